"""The client of the daemon: what it leaves open, and what it looks at, when daemons die and threads
race.
"""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.docker import Docker, DockerGvisor, adapter
from rlenv_plugin_sandbox.docker import engine as _engine

pytest.importorskip("docker")


def test_a_daemon_that_dies_between_two_calls_leaves_no_socket_open(tmp_path: Path) -> None:
    path = tmp_path / "docker.sock"
    daemon = socket.socket(socket.AF_UNIX)
    daemon.bind(str(path))
    daemon.listen(1)

    def die() -> None:
        daemon.accept()[0].close()
        path.unlink()
        daemon.close()

    dying = threading.Thread(target=die)
    dying.start()
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            _engine._knock(f"unix://{path}")
            dying.join()
            with pytest.MonkeyPatch.context() as patch:  # it answered the first call, and no other
                patch.setattr(_engine, "_knock", lambda address: None)
                with pytest.raises(ConfigError), _engine.Engine(f"unix://{path}").client():
                    pass
            gc.collect()
    finally:
        dying.join()

    assert [str(one.message) for one in told if one.category is ResourceWarning] == []


def test_no_call_looks_into_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    [line, *_] = Docker().diagnose()
    if not line.ok:
        pytest.skip(line.said)

    class Changing(dict[str, str]):
        """What ``os.environ`` is while another thread changes it."""

        def items(self) -> Any:
            raise KeyError("PYTEST_CURRENT_TEST")

    engine = _engine.Engine(os.environ.get("DOCKER_HOST"))
    known = engine.about()["ID"]
    monkeypatch.setattr(os, "environ", Changing(os.environ))

    assert engine.about()["ID"] == known


@pytest.mark.parametrize("kind", [Docker, DockerGvisor])
def test_without_the_sdk_there_is_no_adapter(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "find_spec", lambda name: None)

    with pytest.raises(ConfigError, match="needs the docker SDK: pip install docker"):
        kind()


def test_every_session_says_the_same_of_a_daemon_that_is_not_there(tmp_path: Path) -> None:
    box = Docker(url=f"unix://{tmp_path}/none.sock")

    async def said() -> str:
        with pytest.raises(ConfigError) as caught:
            await box.open(Profile(min_isolation="container"))
        return str(caught.value)

    first = asyncio.run(said())
    second = asyncio.run(said())
    assert "no docker daemon answers" in first
    assert first == second
