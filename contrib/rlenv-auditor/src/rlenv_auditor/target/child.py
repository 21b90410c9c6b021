"""The process of a target: loads it, asks it, and says what it said; run as ``python -m
rlenv_auditor.target.child IN OUT``.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from attrs import fields
from rlenv.model.errors import RlenvError
from rlenv.model.record import dumps, plain
from rlenv.model.values import Outcome, StageResult, Task, Verdict

from .forms import read
from .loading import Loaded, loaded
from .playing import Played
from .seeding import noted_seeds, watch_modules, watch_random
from .wire import dump, load, task_from, task_to

__all__ = ["main"]

THREADS = 4
HERE = ("ask", "many", "close")  # of a Loaded, what is called in this process
OWN = os.getpid()
CALLED: dict[str, None] = {}  # hosts that the target called since the last reply


def main(reading: int, writing: int) -> None:
    """Obey until the other side closes its end."""
    faulthandler.enable()
    with os.fdopen(reading, "rb") as orders, os.fdopen(writing, "wb") as replies:
        order = load(orders.readline())
        watch_random()
        try:
            target = loaded(**order)
        except RlenvError as error:
            _say(replies, {"failed": str(error)})
            return
        except BaseException as error:  # noqa: BLE001 - a stranger's module runs here
            words = f"{type(error).__name__}: {_words(error, str)}"
            _say(replies, {"failed": f"{order['target']} cannot be loaded: {words}"[:500]})
            return
        _say(replies, _introduced(target))
        _watch()
        watch_modules()
        desk = _Desk(target, replies)
        for line in orders:
            desk.obey(load(line))
        target.close()
        os._exit(0)  # a thread that the target left must not keep us


def _say(replies: BinaryIO, message: Mapping[str, Any]) -> None:
    if os.getpid() != OWN:  # a fork of the target's that came back: two must not answer
        os._exit(0)
    replies.write(dump(message))
    replies.flush()


def _watch() -> None:
    """Note whom the target calls over a network; what it asks on this machine is its own affair."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.getaddrinfo":
            _note(arguments[0])
        elif event == "socket.connect" and isinstance(arguments[1], tuple):
            _note(arguments[1][0])

    sys.addaudithook(hook)


def _note(host: Any) -> None:
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
    if name and name != "localhost" and not name.startswith(("127.", "::1", "0.0.0.0")):  # noqa: S104 - no server
        CALLED[name[:100]] = None


def _introduced(target: Loaded) -> dict[str, Any]:
    """What ``Target`` has of it: all but what can only be called here."""
    told = {one.name: getattr(target, one.name) for one in fields(Loaded) if one.name not in HERE}
    tasks = [task_to(task) for task in target.tasks]
    return {**told, "tasks": tasks, "in_turn": target.many is None}


class _Desk:
    """Asks the target, one order at a time."""

    def __init__(self, target: Loaded, replies: BinaryIO) -> None:
        self.target = target
        self.replies = replies
        self._lock = threading.Lock()
        self._tasks = {task.id: task for task in target.tasks}

    def obey(self, order: Mapping[str, Any]) -> None:
        pairs = [(self._task(task), response) for task, response in order["pairs"]]
        if order["how"] == "threads":
            self._in_threads(pairs)
        elif order["how"] == "many" and self.target.many is not None:
            self._together(pairs)
        else:
            for index, pair in enumerate(pairs):
                self._alone(index, *pair)
        _say(self.replies, {"done": True})

    def _task(self, said: Any) -> Task:
        """A task of the target's own by its id, or one that an audit made."""
        return self._tasks[said] if isinstance(said, str) else task_from(said)

    def _alone(self, index: int, task: Task, response: str) -> None:
        before = _seen(task)
        start = time.perf_counter()
        try:
            said: Any = self.target.ask(task, read(response))
        # whatever it does is a finding
        except (KeyboardInterrupt, SystemExit, Exception) as error:  # noqa: BLE001 - see above
            said = error
        seconds = time.perf_counter() - start
        self._reply(index, said, seconds, mutated=before != _seen(task))

    def _together(self, pairs: Sequence[tuple[Task, str]]) -> None:
        assert self.target.many is not None
        start = time.perf_counter()
        told = [(task, read(response)) for task, response in pairs]
        for index, said in self.target.many(told):
            spent = [r.seconds for r in said.results] if isinstance(said, Verdict) else []
            self._reply(index, said, sum(spent) or time.perf_counter() - start, mutated=False)

    def _in_threads(self, pairs: Sequence[tuple[Task, str]]) -> None:
        threads = [
            threading.Thread(target=self._share, args=(pairs, start)) for start in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _share(self, pairs: Sequence[tuple[Task, str]], start: int) -> None:
        for index in range(start, len(pairs), THREADS):
            self._alone(index, *pairs[index])

    def _reply(self, index: int, said: Any, seconds: float, *, mutated: bool) -> None:
        message = {"index": index, "seconds": seconds, "mutated": mutated, **_read(said)}
        with self._lock:
            if seeds := noted_seeds():
                message["seeds"] = seeds
            if CALLED:
                message["called"] = list(CALLED)
                CALLED.clear()
            _say(self.replies, message)


def _seen(task: Task) -> str:
    try:
        return dumps([task.prompt, plain(task.answer), plain(task.info)])
    except Exception as error:  # noqa: BLE001 - the target may have put anything there
        return f"{type(error).__name__}"


def _read(said: Any) -> dict[str, Any]:
    """The reward in what a target said, or why there is none."""
    if isinstance(said, BaseException):
        words = _words(said, str)
        return {
            "fault": "error",
            "message": f"{type(said).__name__}: {words}"[:500],
            "said": words[:2000],
        }
    if isinstance(said, Played):
        return {**_verdict(said.verdict), "state": said.state}
    if isinstance(said, Verdict):
        return _verdict(said)
    if isinstance(said, Outcome):
        said = {"score": said.score, "detail": said.detail, "data": dict(said.data)}
    number = _number(said)
    if number is None:
        if said is None:
            return {"fault": "unscored", "message": "it returned None"}
        return {
            "fault": "type",
            "message": f"it returned {type(said).__name__}: {_words(said, repr)[:100]}",
        }
    plain = isinstance(said, (int, float)) or not isinstance(said, Mapping)
    text = "" if plain else dumps(said)
    return {"reward": repr(number), "said": text[:4000], "kind": type(said).__name__}


def _words(said: Any, form: Callable[[Any], str]) -> str:
    """What a stranger's object says of itself, which may raise, too."""
    try:
        return form(said)
    except Exception as error:  # noqa: BLE001 - see above
        return f"(its text raises {type(error).__name__})"


def _verdict(said: Verdict) -> dict[str, Any]:
    text = dumps([_told(result) for result in said.public().results])[:8000]
    stages = [pair for result in said.results for pair in _scores(result)]
    if said.fault is not None or said.value is None:
        kind, words = (said.fault.kind, said.fault.message) if said.fault else ("error", "no value")
        transient = bool(said.fault is not None and said.fault.transient)
        return {
            "fault": "unscored",
            "message": f"{kind}: {words}"[:500],
            "said": text,
            "transient": transient,
            "stages": stages,
        }
    return {"reward": repr(said.value), "said": text, "kind": "float", "stages": stages}


def _scores(result: StageResult) -> Iterator[tuple[str, float | None]]:
    """(path, score) of a stage, or of the stages in it."""
    if result.children:
        for child in result.children:
            yield from _scores(child)
    else:
        yield result.stage, None if result.outcome is None else result.outcome.score


def _told(result: StageResult) -> list[object]:
    outcome = result.outcome
    return [
        None if outcome is None else outcome.detail,
        None if outcome is None else outcome.data,
        [_told(child) for child in result.children],
    ]


def _number(said: Any) -> float | None:
    """A float for what is one, or can be one without a doubt: numpy's, torch's, bool, {"score":
    …}.
    """
    if isinstance(said, Mapping):
        said = said.get("score", said.get("reward"))
    if isinstance(said, (str, bytes)) or said is None:
        return None
    try:
        return float(said)
    except Exception:  # noqa: BLE001 - what a stranger's number does
        return None


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
