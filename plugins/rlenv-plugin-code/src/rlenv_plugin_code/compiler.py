"""Compiling, inside the sandbox: neither a compiler nor a parser meets a response's program
anywhere else.

CPython's own parser and compiler are no exception: what nests deep or long enough costs them
memory, time or the process.  In the sandbox that costs the response its score and nobody else
anything.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import cache
from hashlib import sha256
from typing import TypeAlias

from attrs import evolve, frozen
from rlenv.sandbox import Exit, Session, rank

from .artifacts import Answer, Compiled, Program
from .codec import Unencodable, encode
from .drive.clock import Clock
from .drive.function import LINES
from .drive.link import Link, numbers, parsed, said
from .drive.ran import Ran, Stop, ended, judged, played
from .drive.runs import Runs
from .languages import Language, toolchain
from .languages import language as language_of
from .retry import retried

__all__ = ["asked", "checked", "executable"]

MEMORY_MB = 1024  # for a compiler, whatever a program may have
SECONDS = 20.0  # for a compiler
CHECK_SECONDS = 10.0  # to check the syntax of an interpreted program
PIDS = 64
BINARY_BYTES = 16 << 20  # of an executable
KEPT_BYTES = 64 << 20  # of the executables that a process keeps
KEPT = 1024  # sources of which a process keeps what became of them
_READ = 4096  # bytes of a compiler's complaints

_kept: OrderedDict[bytes, bytes | str] = OrderedDict()
_COMPILE = """
from rlenv_codec import decode, encode
from rlenv_guest import FILE, Link, line_of, make_room, what
make_room()
link = Link()
n, text = decode(link.read())
try:
    compile(text, FILE, "exec", 0, True)
    frame = encode(["ok", n])
except BaseException as err:
    told = str(err.msg)[:200] if isinstance(err, SyntaxError) else ""
    frame = encode(["err", n, what(err), line_of(err), told])
link.write(frame)
"""


async def executable(runs: Runs, program: Program) -> Compiled | Answer:
    """A native program with its executable, or how compiling failed.

    Executables are kept by the content of the source and of the compiler; so are complaints.

    Raises:
        ConfigError: the compiler, or such a sandbox, cannot be had here.
        VerifierFault: the sandbox broke.
    """
    entry = language_of(program.language)
    text = f"{runs.box.isolation} {toolchain(entry.name)}\n{program.first_line}\n{program.source}"
    key = sha256(text.encode("utf-8", "surrogatepass")).digest()
    found = _kept.get(key)
    if found is None:
        answer = await _native(runs, entry, program)
        if answer.status not in ("ok", "error"):
            return answer  # another time it may do better
        found = answer.value if answer.status == "ok" else answer.error
        _keep(key, found)
    else:
        _kept.move_to_end(key)
    if isinstance(found, str):
        return Answer("error", error=found)
    most = max(1, runs.box.memory_mb // 4)  # MiB, so that it fits beside its input
    if len(found) > most << 20:
        return Answer("output", error=f"an executable of more than {most} MiB")
    return Compiled(program, found)


async def checked(runs: Runs, program: Program) -> Compiled | Answer:
    """A program of any language whose syntax is sound, or how it is not.

    Raises:
        as ``executable``.
    """
    entry = language_of(program.language)
    if entry.native:
        return await executable(runs, program)
    answer = await (asked(runs, program, _COMPILE) if entry.warm else _syntax(runs, entry, program))
    return Compiled(program) if answer.status == "ok" else answer


def _keep(key: bytes, found: bytes | str) -> None:
    _kept[key] = found
    while len(_kept) > KEPT or sum(map(len, _kept.values())) > KEPT_BYTES:
        _kept.popitem(last=False)


async def _native(runs: Runs, entry: Language, program: Program) -> Answer:
    words = entry.compile_argv()
    assert words is not None
    box = evolve(
        runs.box,
        memory_mb=max(MEMORY_MB, runs.box.memory_mb),
        budget=SECONDS,
        pids=PIDS,
        output_bytes=BINARY_BYTES,
    )
    argv = ["/bin/sh", "-c", '"$@" >&2 && exec cat program', "sh", *words]
    compilers = Runs(box, runs.clock, SECONDS, runs.retries)
    answer = await _retried(compilers, entry, _Command(argv, entry, program))
    if compilers.tier and (runs.tier is None or rank(compilers.tier) < rank(runs.tier)):
        runs.tier = compilers.tier
    return answer


async def _syntax(runs: Runs, entry: Language, program: Program) -> Answer:
    argv = entry.check_argv()
    if argv is None:
        return Answer("ok")
    return await _retried(runs, entry, _Command(argv, entry, program, CHECK_SECONDS))


async def asked(runs: Runs, program: Program, boot: str) -> Answer:
    """What a source of ours says of a Python program: to it the program is data, and is never run.

    It reads ``[n, source]`` and answers ``["ok", n, ..]`` or ``["err", n, type, line, message]``.

    Raises:
        as ``executable``.
    """
    try:
        text = encode(program.source)
    except Unencodable as err:
        return Answer("error", error=f"the source is {err}")
    return await _retried(runs, language_of("python"), _Asked(boot, text, program.first_line))


_Try: TypeAlias = Callable[[Session, Clock], Awaitable[Ran]]


async def _retried(runs: Runs, entry: Language, one: _Try) -> Answer:
    async def play() -> Ran:
        async with runs._place(entry.name) as session:
            return await one(session, runs.clock)

    return (await retried(play, runs.clock, runs.retries)).answers[0]


@frozen
class _Command:
    """A command line that reads the source and ends with 0 where it is sound."""

    argv: list[str]
    entry: Language
    program: Program
    seconds: float = SECONDS

    async def __call__(self, session: Session, clock: Clock) -> Ran:
        files = {self.entry.file: self.program.source.encode("utf-8", "surrogatepass")}
        await session.start(self.argv, files, wall_s=max(min(self.seconds, clock.left()), 0.001))
        try:
            exit_ = await session.finish()
        except BaseException:
            await session.finish(0)
            raise
        stop = None if exit_.reason == "exit" else ended(exit_)
        return judged([self._answer(exit_, stop)], stop, exit_)

    def _answer(self, exit_: Exit, stop: Stop | None) -> Answer:
        if stop is not None:
            return Answer(stop.status, error=f"compiling: {stop.error}")
        if exit_.status != 0:
            return Answer("error", error=self._complaint(exit_.stderr))
        if exit_.truncated:
            return Answer("output", error=f"an executable of more than {BINARY_BYTES >> 20} MiB")
        return Answer("ok", exit_.stdout)

    def _complaint(self, stderr: bytes) -> str:
        """The first error and its line in the response."""
        lines = stderr[:_READ].decode("utf-8", "replace").split("\n")
        told = [t for t in lines if "error" in t.lower()] or [t for t in lines if t.strip()]
        at = next(filter(None, map(_at_line(self.entry.file), told + lines)), None)
        where = _where(int(at[1]), self.program.first_line) if at else ""
        return where + (said(_bare(told[0])) if told else "the compiler refused it")


@frozen
class _Asked:
    """One question about a source."""

    boot: str
    source: bytes
    first_line: int

    async def __call__(self, session: Session, clock: Clock) -> Ran:
        await session.start(self.boot, wall_s=max(min(CHECK_SECONDS, clock.left()), 0.001))
        answers: list[Answer] = []
        link = Link(session, clock, CHECK_SECONDS)
        stop, exit_ = await played(session, self._answer(link, answers))
        if stop is not None:
            answers = [Answer(stop.status, error=f"compiling: {stop.error}")]
        return judged(answers, stop, exit_)

    async def _answer(self, link: Link, answers: list[Answer]) -> None:
        (n,) = numbers(1)
        await link.send(b"[%d,%s]" % (n, self.source))
        kind, _, *rest = parsed(await link.recv(), n)
        if kind == "ok":
            answers.append(Answer("ok", rest))
            return
        if kind != "err" or [*map(type, rest)] != [str, int, str] or not 0 <= rest[1] < LINES:
            raise Stop("protocol", "an answer of no known form")
        what, line, told = rest
        where = _where(line, self.first_line)
        told = f"{what}: {told}" if told else what
        answers.append(Answer("error", error=where + said(told)))


def _where(line: int, first_line: int) -> str:
    """Where a line of the source is in the response; 0 is nowhere."""
    if line < 1:
        return ""
    line += first_line - 1
    return f"line {line}: " if line > 0 else "in the prompt: "


@cache
def _at_line(file: str) -> Callable[[str], re.Match[str] | None]:
    return re.compile(rf"(?:.*[/ ])?{re.escape(file)}:(?: line )?([0-9]{{1,7}})").match


def _bare(line: str) -> str:
    """A complaint without the names of files, and without what changes from run to run."""
    if "out of memory" in line:
        return "the compiler ran out of memory"
    return re.sub(r"\S*/cc\w+\.[os]\b", "…", re.sub(r"^.*?\b(error|Error): ?", "", line) or line)
