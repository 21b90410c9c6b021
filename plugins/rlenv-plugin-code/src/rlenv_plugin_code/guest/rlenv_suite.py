"""Runs a test suite that a response is, inside a sandbox; the program under test is in another one.

    ["suite", text, entry]
    then, from here, ["call", args, kwargs] as often as the suite likes, each answered by
    ["ok", value] or ["err", name of the exception's type]; in the end ["end", passed]

Only plain values cross.  Nothing here guards anything: what a suite says of a program counts for as
much as it says of the right one.
"""

from __future__ import annotations

import sys

from rlenv_codec import decode, encode
from rlenv_guest import Link, make_room, new_module
from rlenv_objects import exception

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any


class Candidate:
    """The function under test."""

    def __init__(self, link: Link, name: str) -> None:
        self._link = link
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._link.write(encode(["call", list(args), kwargs]))
        frame = self._link.read()
        if frame is None:
            raise SystemExit
        kind, said = decode(frame)
        if kind == "ok":
            return said
        raise exception(said, "")


class Mark:
    """``pytest.mark``: parametrize is heeded, everything else changes nothing."""

    def parametrize(self, names: Any, values: Any, **_: Any) -> Callable[[Any], Any]:
        count = len(names.split(",")) if isinstance(names, str) else len(names)
        rows = [(v,) if count == 1 and isinstance(names, str) else tuple(v) for v in values]

        def decorate(function: Any) -> Any:
            before = getattr(function, "rlenv_rows", [()])
            function.rlenv_rows = [(*row, *old) for old in before for row in rows]
            return function

        return decorate

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **_: (
            args[0] if args and callable(args[0]) else (lambda function: function)
        )


def libraries(entry: str, candidate: Candidate) -> None:
    """What a suite may import besides the standard library."""
    import rlenv_pytest

    rlenv_pytest.mark = Mark()
    sys.modules["pytest"] = rlenv_pytest
    solution: ModuleType = type(sys)("solution")
    setattr(solution, entry, candidate)
    sys.modules["solution"] = solution


def run(text: str, entry: str, candidate: Candidate) -> bool:
    """Whether the suite has no complaint."""
    libraries(entry, candidate)
    space = new_module(text, "rlenv_test", "test.py").__dict__
    space["candidate"] = space[entry] = candidate
    try:
        exec(compile(text, "test.py", "exec", 0, True), space)  # noqa: S102
        for name, thing in list(space.items()):
            if name == "check" and callable(thing):
                thing(candidate)
            elif isinstance(thing, type):
                passed = run_class(thing)
                if not passed:
                    return False
            elif name.startswith("test") and callable(thing):
                for row in getattr(thing, "rlenv_rows", [()]):
                    thing(*row)
    except BaseException:  # noqa: BLE001 - whatever it raises is a complaint
        return False
    return True


def run_class(kind: type) -> bool:
    """Tests in a class, unittest's or pytest's."""
    unittest = sys.modules.get("unittest")
    if unittest is not None and issubclass(kind, unittest.TestCase):
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(kind)
        return bool(suite.run(unittest.TestResult()).wasSuccessful())
    if kind.__name__.startswith("Test"):
        for name in sorted(vars(kind)):
            if name.startswith("test"):
                method = getattr(kind(), name)
                for row in getattr(method, "rlenv_rows", [()]):
                    method(*row)
    return True


def serve(fd: int = 3) -> None:
    """One suite, once."""
    make_room()
    link = Link(fd)
    frame = link.read()
    if frame is not None:
        _, text, entry = decode(frame)
        passed = run(text, entry, Candidate(link, entry))
        link.write(encode(["end", passed]))
        link.read()  # sends it; nothing more is asked
