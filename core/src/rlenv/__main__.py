"""``python -m rlenv``, and what the console script runs: the command line, which is a distribution
of its own.
"""

import sys
from typing import Any

from .plugins.registry import by_name, resolve

MISSING = (
    "the command line is not installed; it is the distribution rlenv-cli: `pip install"
    " ./contrib/rlenv-cli` in a clone of rlenv, or `pip install rlenv_cli-*.whl` in the folder that"
    " holds its wheel"
)


def main() -> None:
    """Run the entry point ``main`` of group ``rlenv.cli`` and exit with its status."""
    found = by_name("rlenv.cli").get("main")
    if found is None or found.error:
        print(f"rlenv: error: {found.error if found else MISSING}", file=sys.stderr)
        sys.exit(2)
    run: Any = resolve(found.target)
    run()


if __name__ == "__main__":
    main()
