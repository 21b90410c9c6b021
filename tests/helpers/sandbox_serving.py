"""A server of sandboxes for as long as a block lasts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rlenv import ConfigError

__all__ = ["serving"]


@contextmanager
def serving(sandbox: str = "jail", token: str = "", options: tuple[str, ...] = ()) -> Iterator[str]:
    """The url of a server of this machine's sandbox in another process.

    Raises:
        ConfigError: it did not start; with what it said.
    """
    words = [
        sys.executable,
        "-m",
        "rlenv_plugin_sandbox.remote",
        "--listen",
        "127.0.0.1:0",
        "--sandbox",
        sandbox,
        *options,
    ]
    environment = {
        **os.environ,
        "RLENV_SANDBOX_TOKEN": token,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        first = process.stdout.readline()
        if not first.startswith("listening on "):
            raise ConfigError(f"the sandbox server did not start: {process.stderr.read().strip()}")
        yield first.split()[-1]
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()
        process.stderr.close()
