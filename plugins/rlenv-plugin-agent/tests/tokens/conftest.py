"""A server on loopback that speaks the wires of vLLM and SGLang; see wires/token_wires.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

WIRES = str(Path(__file__).parent / "wires")
if WIRES not in sys.path:
    sys.path.append(WIRES)


@pytest.fixture(scope="session")
def _wire_server() -> Iterator[Any]:
    from token_wires import WireServer

    server = WireServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def wires(_wire_server: Any) -> Any:
    """``url``, ``requests``, ``sample`` (ids to ids), ``faults``, ``change``, ``template``,
    ``context``.
    """
    _wire_server.forget()
    return _wire_server
