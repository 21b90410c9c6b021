"""A server on loopback whose judges have a scripted character each; see server/judge_traits.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SERVER = str(Path(__file__).parent / "server")
if SERVER not in sys.path:
    sys.path.append(SERVER)


@pytest.fixture(scope="session")
def _judge_server() -> Iterator[Any]:
    from judge_http import JudgeServer

    server = JudgeServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def judge_server(_judge_server: Any) -> Any:
    """``url``, ``key`` (content to quality, or to ``{field: value}``), ``requests``, ``counts``,
    ``most_at_once``.
    """
    _judge_server.forget()
    return _judge_server
