"""The sandbox of examples/cloud_sandbox, for the contract suite of sandboxes
(RLENV_TEST_SANDBOX).
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fly import APP, KEY, service
from rlenv.sandbox import Sandbox

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples/cloud_sandbox"))
from fly_sandbox.machine import FlyMachine


@contextmanager
def sandbox() -> Iterator[Sandbox]:
    """A machine whose programs run in this machine's jail."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    os.environ["FLY_API_TOKEN"] = KEY
    with service(port, sandbox="jail") as fly:
        yield FlyMachine(APP, "rlenv", url=fly.url, port=port)
