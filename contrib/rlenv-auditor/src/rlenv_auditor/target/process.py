"""A target as an audit holds it: asked over a pipe, killed when it hangs, started again when it
dies.
"""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any, Self

from attrs import field, frozen
from rlenv.model.errors import ConfigError
from rlenv.model.values import Task

from rlenv_auditor.model import Reply

from .boot import command
from .wire import dump, load, task_from, task_to

__all__ = ["OutOfBudget", "Spec", "Target", "placed"]

Pair = tuple[Task, str]
PATIENCE_S = 10.0
LOADING_S = 120.0
CHUNK = 1 << 16
# Of a Spec, by ``loading.loaded``.
ASKED = ("target", "signature", "tasks_from", "seed", "borrowed", "size")


def placed(name: str) -> str:
    """A file by its whole path, so that it is found from another working directory too; also of
    ``./file.py:name``.
    """
    parts = name.rpartition(":")
    file, colon, rest = parts if parts[0].endswith(".py") else (name, "", "")
    return f"{os.path.abspath(file)}{colon}{rest}" if file and os.path.exists(file) else name


class OutOfBudget(Exception):
    """The time of whoever asks is spent."""


@frozen
class Spec:
    """Which target, and how it is called; see ``loading.loaded``."""

    target: str
    signature: str = ""
    tasks_from: str = ""
    seed: int = 0
    borrowed: bool = False
    size: int = 200  # tasks of a target that makes as many as are asked for
    environ: Mapping[str, str] = field(factory=dict)
    cwd: str | None = None
    python: str = ""  # the interpreter that runs it; "": this one


class Target:
    """A verifier in a process of its own.

    Args:
        spec: which.
        patience: seconds for one response, after which the process is killed and the response is a
            hang; None: 10, or what an environment's own limits add up to.
        loading: seconds until it must be ready.

    Raises:
        ConfigError: it cannot be loaded; the message says why.
    """

    def __init__(
        self, spec: Spec, patience: float | None = None, loading: float = LOADING_S
    ) -> None:
        self.spec = spec
        self.loading = loading
        self.calls = 0
        # By task, the first response whose call changed it.
        self.changed: dict[str | None, tuple[str, Reply]] = {}
        self.until = math.inf  # of time.monotonic: what hangs or dies is asked no more after it
        self._buffer = b""
        self._process: subprocess.Popen[bytes] | None = None
        self._orders = self._replies = -1
        said = self._start()
        self.patience = max(PATIENCE_S, float(said["limit_s"])) if patience is None else patience
        self.tasks = tuple(task_from(task) for task in said["tasks"])
        self.archetypes = tuple(said["archetypes"])
        self.uses = tuple(said["uses"])
        self.pass_mark = float(said["pass_mark"])
        self._in_turn = bool(said["in_turn"])  # many at once are asked one after another
        self.steady = bool(said["steady"])
        self.converses = bool(said["converses"])
        self.sides = str(said["sides"])
        self.right: Mapping[str, Sequence[str]] = said["right"]
        self.added = int(said["added"])
        self.words = tuple(said["words"])
        self.acts = bool(said["acts"])
        self.weights: Mapping[str, float] = said["weights"]
        self.alone = ""  # why it judges no response by itself, but episodes; "" where it does
        self._own = set() if spec.borrowed else {task.id for task in self.tasks}

    # -- asking ------------------------------------------------------------------------------------

    def ask(self, task: Task, response: str) -> Reply:
        """What it says of one response."""
        return self.score([(task, response)])[0]

    def score(self, pairs: Sequence[Pair], how: str = "alone") -> list[Reply]:
        """What it says of each; a response on which it hangs or dies costs its own reply only.

        Args:
            how: "alone" one after another, "many" in the target's own way, "threads" four at a
                time.

        Raises:
            OutOfBudget: it hung or died, and the time was spent before the rest was asked.
        """
        replies = self.some(pairs, how, self.until)
        if len(replies) < len(pairs):
            raise OutOfBudget
        return [replies[index] for index in range(len(pairs))]

    def some(
        self, pairs: Sequence[Pair], how: str = "alone", until: float = math.inf
    ) -> dict[int, Reply]:
        """The same by place; after a hang or a death, no more is asked once ``until`` of
        ``time.monotonic`` is past.
        """
        replies: dict[int, Reply] = {}
        todo = list(range(len(pairs)))
        while todo and (not replies or time.monotonic() < until):
            got = dict(self._round([pairs[index] for index in todo], how))
            replies |= {todo[place]: reply for place, reply in got.items()}
            for place, reply in got.items():
                task, text = pairs[todo[place]]
                if reply.mutated:
                    self.changed.setdefault(task.id, (text, reply))
            todo = [index for index in todo if index not in replies]
            if todo and how != "alone":
                how = "alone"  # whoever killed it is found one by one
        self.calls += len(replies)
        return replies

    def _round(self, pairs: Sequence[Pair], how: str) -> Iterator[tuple[int, Reply]]:
        """Replies until all are there, or the process is gone; alone, the response that it hung on
        is named.
        """
        fresh = self._process is None
        if fresh:
            self._start()
        orders = [
            [task.id if task.id in self._own else task_to(task), text] for task, text in pairs
        ]
        seen: set[int] = set()
        try:
            self._send({"pairs": orders, "how": how})
            while True:
                message = self._receive(self.patience)
                if "done" in message:
                    if len(seen) < len(pairs):
                        raise ValueError("the target says so, and not its process")
                    return
                index = int(message["index"])
                seen.add(index)
                yield index, _reply(message)
        except (TimeoutError, OSError, ValueError, KeyError) as error:
            self._kill()
            hung = isinstance(error, TimeoutError)
            if not (fresh or hung or seen):
                return  # a response of an earlier round may have done it: a fresh process is asked
            if (how == "alone" or (how == "many" and self._in_turn)) and len(seen) < len(pairs):
                said = (
                    f"no reward after {self.patience:g} s"
                    if hung
                    else "the process of the target ended"
                )
                seconds = self.patience if hung else 0.0
                yield len(seen), Reply(None, "hang" if hung else "crash", said, seconds=seconds)

    # -- its process -------------------------------------------------------------------------------

    def _start(self) -> dict[str, Any]:
        theirs, self._orders = os.pipe()
        self._replies, writing = os.pipe()
        environ = {**os.environ, "PYTHONHASHSEED": "0", **self.spec.environ}
        words = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
        try:
            self._process = subprocess.Popen(  # noqa: S603 - an interpreter that the person names
                command(self.spec.python, theirs, writing),
                pass_fds=(theirs, writing),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=words,
                env=environ,
                cwd=self.spec.cwd,
                start_new_session=True,
            )
        except OSError as error:
            words.close()
            os.close(self._orders)
            os.close(self._replies)
            named = self.spec.python or sys.executable
            raise ConfigError(f"--python {named}: it cannot be run ({error.strerror})") from error
        finally:
            os.close(theirs)
            os.close(writing)
        self._buffer = b""
        spec = self.spec
        try:
            self._send({name: getattr(spec, name) for name in ASKED})
            said = self._receive(self.loading)
        except (TimeoutError, OSError, ValueError) as error:
            self._kill()
            last = _last(words)
            raise ConfigError(
                f"{spec.target} did not load ({error}){': ' + last if last else ''}"
            ) from error
        finally:
            words.close()
        if "failed" in said:
            self._kill()
            raise ConfigError(said["failed"])
        return said

    def _send(self, message: Mapping[str, Any]) -> None:
        view = memoryview(dump(message))
        until = time.monotonic() + LOADING_S
        os.set_blocking(self._orders, False)
        while view:
            if not select.select([], [self._orders], [], max(0.0, until - time.monotonic()))[1]:
                raise TimeoutError("it reads nothing")
            view = view[os.write(self._orders, view) :]

    def _receive(self, seconds: float) -> dict[str, Any]:
        until = time.monotonic() + seconds
        while b"\n" not in self._buffer:
            if not select.select([self._replies], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError(f"no word for {seconds:g} s")
            more = os.read(self._replies, CHUNK)
            if not more:
                raise OSError("its process ended")
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\n")
        return load(line)

    def _kill(self) -> None:
        process = self._process
        self._process = None
        if process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(self._orders)
        os.close(self._replies)

    def close(self) -> None:
        """End it with everything that it started."""
        self._kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def twin(self) -> Iterator[Target]:
        """The same target in a fresh process."""
        with Target(self.spec, self.patience, self.loading) as other:
            other.until = self.until
            yield other


def _last(words: IO[bytes]) -> str:
    """The last line that a process wrote, before what the interpreter says of its death."""
    words.seek(0)
    text = words.read()[-10_000:].decode("utf-8", "replace").partition("Fatal Python error")[0]
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def _reply(message: Mapping[str, Any]) -> Reply:
    reward = message.get("reward")
    return Reply(
        reward=None if reward is None else float(reward),
        fault=message.get("fault", ""),
        message=message.get("message", ""),
        said=message.get("said", ""),
        seconds=float(message["seconds"]),
        mutated=bool(message["mutated"]),
        called=tuple(message.get("called", ())),
        transient=bool(message.get("transient", False)),
        stages=tuple((str(name), score) for name, score in message.get("stages", ())),
        seeds=tuple(message.get("seeds", ())),
        state=message.get("state", ""),
    )
