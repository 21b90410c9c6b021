"""What an option of a stranger reaches: in a fresh process, with values that name what is outside.

Audit hooks cannot be removed, so the process is one of its own: ``python -c "... main()"`` reads a
pickled request from standard input and writes what it saw, as JSON, to the file that it is told.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from attrs import frozen
from rlenv.config.files import File
from rlenv.config.fit import Option, build, options_of
from rlenv.config.marks import split_mark
from rlenv.config.problems import Problems, at, of_a_stranger
from rlenv.plugins.registry import registry
from rlenv.runtime.pickling import pickled

from .bench import Bench, Pair

CANARY = "rlenv_canary"
SECONDS = 120.0
STARTER = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from rlenv_testing.reach import main; main(sys.argv[2])"
)
_EVENTS = (
    "open",
    "os.",
    "socket.",
    "subprocess.",
    "sqlite3.",
    "shutil.",
    "glob.",
    "urllib.",
    "ctypes.",
)
_FILES = ("open", "os.", "sqlite3.", "shutil.", "glob.")
_BASE = "options"


@frozen
class Target:
    """A class whose options are tried.

    Args:
        made_by: the class, or ``plugin/stage``.
        options: what it is built with besides.
        before: stages that make what it needs.
        pairs: tasks and responses that it judges.
    """

    made_by: Any
    options: Mapping[str, Any] = {}
    before: Sequence[object] = ()
    pairs: Sequence[Pair] = ()


@frozen
class Reached:
    """A value of an option that reached outside, and the audit event that tells."""

    option: str
    value: object
    event: str

    def __str__(self) -> str:
        return f"{self.option} = {json.dumps(self.value)} is told to {self.event}"


def reached(targets: Sequence[Target]) -> list[Reached]:
    """Try every option of some classes that takes texts, as a stranger's env.toml would set it.

    Returns:
        What reached a file outside, a host, a variable, a module or a program.

    Raises:
        OSError, RuntimeError: the fresh process cannot be started, or ends without a report.
    """
    with tempfile.TemporaryDirectory(prefix="rlenv-reach-") as name:
        folder = Path(name)
        for place in ("inside", "outside"):
            (folder / place).mkdir()
            (folder / place / f"{CANARY}.py").write_text("def function(*_):\n    return 1.0\n")
        (folder / "outside" / f"{CANARY}.txt").write_text("[]")
        reply = folder / "reply"
        environ = {**os.environ, CANARY.upper(): "secret", "HOME": name, "TMPDIR": name}
        argv = [sys.executable, "-c", STARTER, json.dumps([*sys.path, str(folder / "outside")])]
        done = subprocess.run(  # noqa: S603 - this very interpreter
            [*argv, str(reply)],
            input=pickled([*targets]),
            env=environ,
            cwd=folder / "inside",
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        if not reply.exists():
            raise RuntimeError(f"a fresh process ended early: {done.stderr.decode()[-400:]}")
        return [Reached(*row) for row in json.loads(reply.read_bytes())]


def main(reply: str) -> None:
    """In the fresh process: try the targets that standard input holds."""
    targets: list[Target] = pickle.load(sys.stdin.buffer)  # noqa: S301 - of the process that started this
    for target in targets:
        if target.pairs:  # with nothing planted it judges, or the rest would show nothing
            _judged(_class_of(target)(**target.options), target)
    watch = Watch()
    rows: list[tuple[str, object, str]] = []
    for target in targets:
        for option, value in planted(target, Path.cwd().parent / "outside"):
            with watch:
                _tried(target, option, value)
            rows += [(option, value, event) for event in dict.fromkeys(watch.seen)]
    Path(reply).write_text(json.dumps(rows))


class Watch:
    """Notes the audit events, and the lookups of variables, that name the canary while it is
    entered.
    """

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._on = False
        sys.addaudithook(self._hook)
        environ: Any = type(os.environ)
        look_up = environ.__getitem__

        def watched(this: Any, key: str) -> object:
            self._note("os.environ", key)
            return look_up(this, key)

        environ.__getitem__ = watched

    def __enter__(self) -> None:
        self.seen.clear()
        self._on = True

    def __exit__(self, *_: object) -> None:
        self._on = False
        if sys.modules.pop(CANARY, None) is not None:  # importlib tells no hook
            self.seen.append("import")

    def _hook(self, event: str, args: tuple[object, ...]) -> None:
        if event == "import":
            self._note(event, args[0])
        elif event.startswith(_EVENTS) and not (event.startswith(_FILES) and _is_inside(args[0])):
            self._note(event, args)

    def _note(self, event: str, told: object) -> None:
        if self._on and CANARY in repr(told).lower():
            self.seen.append(event)


def _is_inside(place: object) -> bool:
    """Whether this is a path below the folder of the env.toml, which is the working directory."""
    if not isinstance(place, (str, bytes, os.PathLike)):
        return False
    return Path(os.path.realpath(os.fsdecode(place))).is_relative_to(os.path.realpath(Path.cwd()))


def _class_of(target: Target) -> Any:
    named = target.made_by
    return registry().stage_type(named) if isinstance(named, str) else named


def planted(target: Target, outside: Path) -> Iterator[tuple[str, object]]:
    """(option, value) for all values that name something outside and may be what the option
    takes.
    """
    names = [
        str(outside / f"{CANARY}.txt"),
        f"../outside/{CANARY}.txt",
        f"http://{CANARY}.invalid/v1",
    ]
    names += [f"${{{CANARY.upper()}}}", CANARY.upper(), CANARY, f"{CANARY}:function"]
    names += [f"./{CANARY}.py:function", f"info.{CANARY}"]
    for option in text_options(_class_of(target)):
        for name in names:
            for value in shapes(option.declared, name):
                yield option.name, value


def shapes(kind: object, text: str) -> Iterator[object]:
    """Values of this type that hold the text; none for a type that holds no text."""
    kind, _ = split_mark(getattr(kind, "__supertype__", kind))
    origin = get_origin(kind) or kind
    args = get_args(kind)
    if origin in (str, File, Any, object):
        yield text
    elif origin is Literal or not args:
        return
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        yield from ({text: item} for item in [*shapes(args[-1], text), 1][:1])
    elif isinstance(origin, type) and issubclass(origin, (Sequence, AbstractSet)):
        yield from ([item] for item in shapes(args[0], text))
    elif not isinstance(origin, type) or origin.__name__ == "UnionType":
        for arm in args:
            yield from shapes(arm, text)


def _tried(target: Target, option: str, value: object) -> None:
    """Build the stage as ``code=False`` does, where only this option is a stranger's, and let it
    judge.
    """
    problems = Problems(code=False)
    problems.origins = {at(_BASE, name): "given" for name in target.options if name != option}
    with suppress(Exception), of_a_stranger("."):  # whatever it raises: only what it reaches counts
        made: Any = build(_class_of(target), {**target.options, option: value}, _BASE, problems)
        if not problems.found and target.pairs:
            _judged(made, target)


def _judged(stage: object, target: Target) -> None:
    bench = Bench(stage, target.pairs, before=target.before, patience=10.0, here=True)
    bench.results(target.pairs)


def text_options(kind: Any) -> list[Option]:
    """The options of a class that take texts."""
    return [
        option
        for option in options_of(kind)[0]
        if option.name != "slots" and next(shapes(option.declared, ""), None) is not None
    ]
