"""``Tickets``: responses are submitted now, and their verdicts come later, also after a restart."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from secrets import token_hex
from threading import Thread
from typing import Literal, TypeAlias

from attrs import asdict, evolve
from rlenv import (
    ConfigError,
    Environment,
    Fault,
    Outcome,
    StageResult,
    Task,
    TaskError,
    Trajectory,
    Verdict,
)
from rlenv.authoring import dumps
from rlenv_cli.scores import verdict_from_dict, verdict_to_dict

from rlenv_train.batch import needs_no_group
from rlenv_train.environments import AnyEnvironment, open_environment
from rlenv_train.rows import Response

from .store import Record, SqliteStore, Store

Status: TypeAlias = Literal["waiting", "done", "cancelled", "changed"]
Callback: TypeAlias = Callable[["Ticket"], object]

LOOK = 0.05  # seconds between looks at the store, which other processes change
logger = logging.getLogger("rlenv_train")


class Ticket:
    """A response whose verdict comes later; ``id`` finds it again after a restart, with
    ``Tickets.get``.

    Attributes:
        id: 32 hex digits.
        fingerprint: of the environment that it was submitted to.
    """

    def __init__(self, tickets: Tickets, record: Record) -> None:
        self._tickets = tickets
        self._record = record
        self.id = record.id
        self.fingerprint = record.fingerprint

    def poll(self) -> Status:
        """What is known now; ``changed``: it has no verdict, and the environment is not that of its
        fingerprint.
        """
        if self._record.state not in ("done", "cancelled"):
            self._record = self._tickets.store.get(self.id)
        match self._record.state:
            case "done" | "cancelled" as ended:
                return ended
            case "waiting" if self.fingerprint != self._tickets.fingerprint:
                return "changed"
        return "waiting"

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, None where there is none yet; unscored where the store gives something
        else.
        """
        if self.poll() != "done":
            return None
        try:
            return verdict_from_dict(json.loads(self._record.verdict))
        except (ValueError, RecursionError) as error:
            return _foreign(error)

    def wait(self, timeout: float | None = None) -> Status:
        """Wait until it ends, or for so many seconds of wall time; None for as long as it takes."""
        end = time.monotonic() + (float("inf") if timeout is None else timeout)
        while (status := self.poll()) == "waiting" and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, LOOK))
        return status

    def cancel(self) -> bool:
        """Cancel it; False where it has a verdict or is cancelled.  A stage that runs is not
        stopped.
        """
        if self.poll() in ("done", "cancelled"):
            return False
        return self._tickets.store.swap(self._record, evolve(self._record, state="cancelled"))

    def on_done(self, callback: Callback) -> None:
        """Call ``callback(ticket)`` once, in a thread of this process, when it ends in whatever
        way.
        """
        self._tickets.watched[self, callback] = None


class Tickets(AbstractContextManager["Tickets"]):
    """Submits responses to an environment, and keeps their verdicts.

    Threads of this process judge what waits in the store, also what was submitted before a restart.
    Several processes may use one store; one of them judges, and another when that one ends.

    Example:
        with Tickets("env.toml", "tickets.sqlite") as tickets:
            ticket = tickets.submit(task, response)
            ticket.wait(3600)
            print(ticket.verdict)

    Args:
        env: an Environment, the path of an env.toml, or the name of an installed environment.
        store: the path of a file of SQLite, or a ``Store``, which stays open.
        judges: how many responses are judged at the same time; 0: other processes judge.

    Raises:
        ConfigError: when a stage compares the responses to one task, or the store cannot be used.
    """

    def __init__(
        self, env: AnyEnvironment, store: str | os.PathLike[str] | Store, *, judges: int = 8
    ) -> None:
        if not (type(judges) is int and judges >= 0):
            raise ConfigError(f"judges is an integer, 0 or more, not {judges!r}")
        self._env = open_environment(env)
        needs_no_group(self._env, "a ticket")
        self.fingerprint = self._env.fingerprint
        self.store: Store = SqliteStore(store) if isinstance(store, (str, os.PathLike)) else store
        given = (self.store, store), (self._env, env)
        self._own = [made for made, it in given if made is not it]
        self._judges = judges
        self._told = 0.0
        self._closed = False
        self.watched: dict[tuple[Ticket, Callback], None] = {}
        self._judging: dict[Record, Future[Verdict]] = {}
        self._pool = ThreadPoolExecutor(judges or 1, thread_name_prefix="rlenv-tickets")
        self._thread = Thread(target=self._serve, name="rlenv-tickets", daemon=True)
        self._thread.start()

    # -- tickets ---------------------------------------------------------------------------------

    def submit(self, task: str | Task, response: Response, *, outside: bool = False) -> Ticket:
        """Keep a response, to be judged; when this returns, the ticket survives the end of the
        process.

        Args:
            task: a Task, or the prompt of one of the environment's own.
            response: text, messages or a Trajectory, whose token ids are not kept.
            outside: no stage judges it; ``resolve`` brings its outcome.

        Raises:
            UnknownTask: when no task has this prompt, or several do.
            TaskError: when JSON would change the task or the response.
        """
        found = self._env.tasks.by_prompt(task) if isinstance(task, str) else task
        asked = _asked(found, response)
        state = "outside" if outside else "waiting"
        record = Record(token_hex(16), self.fingerprint, asked, state)
        self.store.put(record)
        return Ticket(self, record)

    def resolve(self, id: str, outcome: Outcome | float) -> bool:  # noqa: A002 - the field's name
        """The outcome of a ticket that no stage judges, from wherever it is known; False where it
        has ended already.

        Args:
            id: of a ticket that was submitted with ``outside=True``.
            outcome: a score in [0, 1], or an Outcome.

        Raises:
            ScoreError: when the score is no finite float in [0, 1].
            ConfigError: when there is no such ticket, or stages judge it.
        """
        made = outcome if isinstance(outcome, Outcome) else Outcome(outcome)
        record = self.store.get(id)
        if record.state == "waiting":
            raise ConfigError(f"ticket {id} is judged by stages; submit it with outside=True")
        verdict = Verdict(made.score, (StageResult("outcome", made),), None, record.fingerprint)
        return record.state == "outside" and self._end(record, verdict)

    def get(self, id: str) -> Ticket:  # noqa: A002 - the field's name
        """The ticket of this id.

        Raises:
            ConfigError: when the store has none.
        """
        return Ticket(self, self.store.get(id))

    def close(self) -> None:
        """Wait for what is judged now, and let go of the store; what waits stays in it."""
        self._closed = True
        self._thread.join()
        self._pool.shutdown()
        for made in self._own:
            made.close()

    def __exit__(self, *raised: object) -> None:
        self.close()

    # -- how -------------------------------------------------------------------------------------

    def _end(self, record: Record, verdict: Verdict) -> bool:
        written = dumps(verdict_to_dict(verdict))
        return self.store.swap(record, evolve(record, state="done", verdict=written))

    def _serve(self) -> None:
        """In a thread: have what waits judged, keep verdicts, tell of what ended."""
        told = ""
        while not self._closed or self._judging:
            try:
                self._look()
            except Exception as error:  # noqa: BLE001 - a disk may be full now, and not later
                if told != (told := f"{type(error).__name__}: {error}"):
                    logger.warning("tickets: the store cannot be used now: %s", told)
            time.sleep(LOOK)

    def _look(self) -> None:
        for record, future in list(self._judging.items()):
            if future.done():
                self._end(record, future.result())
                del self._judging[record]
        if not self._closed and self._judges and self.store.may_judge():
            for record in self.store.waiting(self.fingerprint, self._judges):
                if record not in self._judging and len(self._judging) < self._judges:
                    self._judging[record] = self._pool.submit(_evaluated, self._env, record.asked)
        self._tell()

    def _tell(self) -> None:
        """Call back for what ended; the looks at what is watched take a tenth of the time at
        most.
        """
        if (start := time.monotonic()) < self._told:
            return
        for ticket, callback in list(self.watched):
            if ticket.poll() == "waiting":
                continue
            del self.watched[ticket, callback]
            try:
                callback(ticket)
            except Exception:
                logger.exception("a callback of ticket %s failed", ticket.id)
        self._told = time.monotonic() + 9 * (time.monotonic() - start)


def _asked(task: Task, response: Response) -> str:
    """The task and the response as JSON.  The token ids of a trajectory are left out.

    Raises:
        TaskError: when JSON would change them.
    """
    given = response.messages if isinstance(response, Trajectory) else response
    said = given if isinstance(given, str) else [dict(message) for message in given]
    asked = asdict(task, recurse=False) | {"info": dict(task.info), "response": said}
    try:
        text = json.dumps(asked, allow_nan=False)
        lack = "JSON would change it"
        if json.loads(text) == asked:
            return text
    except (TypeError, ValueError, RecursionError) as error:
        lack = str(error)
    raise TaskError(f"a ticket holds its task and its response as JSON: {lack}", task.id)


def _evaluated(env: Environment, asked: str) -> Verdict:
    """The verdict on what a ticket asks; unscored where a store gave something else."""
    try:
        found = json.loads(asked)
        response = found.pop("response")
        task = Task(**found)
        if not isinstance(found["prompt"], str) or not isinstance(found["info"], dict):
            raise TypeError("not a task")
        return next(env.evaluate_many([(task, response)]))
    except Exception as error:  # noqa: BLE001 - anybody may have written it
        return _foreign(error)


def _foreign(error: Exception) -> Verdict:
    return Verdict(None, fault=Fault("contract", f"the store holds something else here: {error}"))
