"""A server ends when it is asked to, whatever its background work does with a cancellation."""

from __future__ import annotations

import asyncio

import pytest
from rlenv_serve import Server
from serving import served, sums


def test_background_work_that_drops_a_cancellation_does_not_keep_a_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dropped = list[bool]()

    async def watch() -> None:
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                if dropped:
                    raise
                dropped.append(True)

    async def serve() -> None:
        with sums() as env:
            server = Server(served(env))
            monkeypatch.setattr(server.sessions, "watch", watch)
            async with server.running():
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(serve(), 50))

    assert dropped == [True]
