"""Says which files the functions of an env.toml read: ``python -m rlenv_auditor.target.reading``.

Standard input is one line of JSON, ``{"target": ..., "pairs": [[task, response], ...]}``, and
standard output one list of ``[function, path]``.  The functions run in this process, where an audit
hook sees what they open.
"""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from typing import Any

from rlenv.compose.stages import Attempt
from rlenv.config.references import FileFunction
from rlenv.environment import Environment

from .wire import task_from

__all__ = ["main"]

# Folders whose files belong to the system or to what is installed.
SYSTEM = ("/proc", "/sys", "/dev", "/etc", "/usr", "/lib", "/lib64", sys.prefix, sys.base_prefix)
WRITES = os.O_WRONLY | os.O_CREAT


class _Opened:
    """The files that are opened for reading while a function runs."""

    def __init__(self) -> None:
        self.paths: dict[str, None] | None = None
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or self.paths is None or not isinstance(arguments[0], (str, bytes)):
            return
        if not (arguments[2] or 0) & WRITES:
            self.paths[os.path.realpath(os.fsdecode(arguments[0]))] = None


def main() -> None:
    """Ask every function of a file about all pairs, and say what was read besides what is
    declared.
    """
    order = json.loads(sys.stdin.readline())
    opened = _Opened()
    pairs = [(task_from(task), response) for task, response in order["pairs"]]
    found: list[tuple[str, str]] = []
    with redirect_stdout(sys.stderr), Environment.load(order["target"]) as env:
        for function, slot in _functions(env):
            paths: dict[str, None] = {}
            opened.paths = paths
            for task, response in pairs:
                with suppress(BaseException):  # other probes see to what it does with a response
                    slot.stage.check(Attempt(task, response))
            opened.paths = None
            found += [(function.written, path) for path in paths if _counts(path, function)]
    print(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)  # a thread that a function left must not keep us


def _functions(env: Environment) -> Iterator[tuple[FileFunction, Any]]:
    for slot in env.stages.values():
        function: Any = getattr(slot.stage, "function", None)
        while hasattr(function, "func"):  # of options
            function = function.func
        if isinstance(function, FileFunction) and not function.is_async:
            yield function, slot


def _counts(path: str, function: FileFunction) -> bool:
    """Whether a file is one that the function should declare."""
    folder = function.path.resolve().parent
    declared = {os.path.realpath(folder / name) for name in function.reads}
    own = {str(function.path.resolve()), *declared}
    places = (*SYSTEM, *map(sysconfig.get_path, ("stdlib", "purelib", "platlib")))
    inside = any(path.startswith(f"{place.rstrip(os.sep)}{os.sep}") for place in places)
    is_code = path.endswith((".py", ".pyc", ".so"))
    return path not in own and not inside and not is_code and os.path.isfile(path)


if __name__ == "__main__":
    main()
