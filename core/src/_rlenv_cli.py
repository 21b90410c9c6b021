"""The console script ``rlenv``: a Ctrl-C is obeyed without a traceback while rlenv is still being
imported.
"""

import os
import signal
import sys


def _leave(*_: object) -> None:
    os.write(2, b"\nrlenv: interrupted\n")
    os._exit(128 + signal.SIGINT)


def main() -> None:
    """Run the command line and exit with its status; commands handle signals themselves."""
    if sys.platform == "win32":  # where `import rlenv` itself would fail
        sys.exit("rlenv: error: Windows is not supported; use WSL or a Linux container")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from rlenv.__main__ import main as run

    run()
