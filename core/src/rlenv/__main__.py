"""``rlenv`` and ``python -m rlenv``."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and exit with its status."""
    if sys.stdout is None or sys.stderr is None:
        _reopen_closed_streams()
    if sys.platform == "win32":
        print(
            "rlenv: error: Windows is not supported; use WSL or a Linux container", file=sys.stderr
        )
        sys.exit(2)
    from .cli.app import cli

    cli(prog_name="rlenv")


def _reopen_closed_streams() -> None:
    """Give what the caller closed (``2>&-``) a stream again, before a file of ours gets its number."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as long as the process


if __name__ == "__main__":
    main()
