"""``Tickets``: responses are submitted now, and their verdicts come later, also after a restart."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from secrets import token_hex
from threading import Lock, Thread
from typing import Literal, TypeAlias, TypeVar

from attrs import asdict
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
from rlenv_cli.tickets import TicketJudge, TicketRecord, end_ticket

from rlenv_train.batch import needs_no_group
from rlenv_train.environments import AnyEnvironment, open_environment
from rlenv_train.rows import Response

from .store import SqliteStore, TicketQueue

T = TypeVar("T")
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

    def __init__(self, tickets: Tickets, record: TicketRecord) -> None:
        self._tickets = tickets
        self._record = record
        self.id = record.id
        self.fingerprint = record.fingerprint

    def poll(self) -> Status:
        """Return what is known now; ``changed``: it has no verdict, and the environment is not that
        of its fingerprint.
        """
        return self._tickets.call(self.look())

    async def look(self) -> Status:
        """Do the same as ``poll``, in the event loop of the tickets."""
        if not self._record.has_ended:
            self._record = await self._tickets.find(self.id)
        if self._record.state == "done":
            return "done"
        if self._record.state == "cancelled":
            return "cancelled"
        is_other = self.fingerprint != self._tickets.fingerprint
        return "changed" if is_other and self._record.state == "waiting" else "waiting"

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, None where there is none yet; unscored where the store gives something
        else.
        """
        if self.poll() != "done":
            return None
        try:
            return verdict_from_dict(json.loads(self._tickets.call(self._result())))
        except (ValueError, RecursionError) as error:
            return _foreign(error)

    async def _result(self) -> bytes:
        return await self._tickets.store.result(self.id)

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
        return self._tickets.call(end_ticket(self._tickets.store, self.id, "cancelled"))

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
        store: the path of a file of SQLite, or a ``TicketQueue``, which stays open.
        judges: how many responses are judged at the same time; 0: other processes judge.

    Raises:
        ConfigError: when a stage compares the responses to one task, or the store cannot be used.
    """

    def __init__(
        self, env: AnyEnvironment, store: str | os.PathLike[str] | TicketQueue, *, judges: int = 8
    ) -> None:
        if not (type(judges) is int and judges >= 0):
            raise ConfigError(f"judges is an integer, 0 or more, not {judges!r}")
        self._env = open_environment(env)
        needs_no_group(self._env, "a ticket")
        self.fingerprint = self._env.fingerprint
        self.store: TicketQueue
        if isinstance(store, (str, os.PathLike)):
            self.store = SqliteStore(store)
        else:
            self.store = store
        given = (self.store, store), (self._env, env)
        self._own = [made for made, it in given if made is not it]
        self._judges = judges
        self._judge = TicketJudge(self.store, self._warn)
        self._warning = ""  # the last one
        self._next_calls = 0.0  # when callbacks are looked for again
        self._closed = False
        self._ended = False  # the thread takes no calls any more
        self._calling = Lock()
        self.watched: dict[tuple[Ticket, Callback], None] = {}
        self._pool = ThreadPoolExecutor(judges or 1, thread_name_prefix="rlenv-tickets")
        self._caller = ThreadPoolExecutor(1, thread_name_prefix="rlenv-tickets-done")
        self._loop = asyncio.new_event_loop()
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
        asked = _to_request(found, response)
        state = "outside" if outside else "waiting"
        record = TicketRecord(token_hex(16), self.fingerprint, state)
        self.call(self.store.put(record, asked.encode()))
        return Ticket(self, record)

    def resolve(self, id: str, outcome: Outcome | float) -> bool:  # noqa: A002 - the field's name
        """End a ticket that no stage judges with its outcome, from wherever it is known; False
        where it has ended already.

        Args:
            id: of a ticket that was submitted with ``outside=True``.
            outcome: a score in [0, 1], or an Outcome.

        Raises:
            ScoreError: when the score is not a finite float in [0, 1].
            ConfigError: when there is no such ticket, or stages judge it.
        """
        made = outcome if isinstance(outcome, Outcome) else Outcome(outcome)
        record = self.call(self.find(id))
        if record.state == "waiting":
            raise ConfigError(f"ticket {id} is judged by stages; submit it with outside=True")
        verdict = Verdict(made.score, (StageResult("outcome", made),), None, record.fingerprint)
        return self.call(end_ticket(self.store, id, "done", _to_json(verdict)))

    def get(self, id: str) -> Ticket:  # noqa: A002 - the field's name
        """Return the ticket of this id.

        Raises:
            ConfigError: when the store has none.
        """
        return Ticket(self, self.call(self.find(id)))

    def close(self) -> None:
        """Wait for what is judged now, and let go of the store; what waits stays in it."""
        self._closed = True
        self._thread.join()
        self._pool.shutdown()
        self._caller.shutdown()
        for made in self._own:
            made.close()

    def __exit__(self, *raised: object) -> None:
        self.close()

    # -- for tickets -----------------------------------------------------------------------------

    def call(self, work: Coroutine[object, object, T]) -> T:
        """Run work of the store in the event loop of the tickets, and return what it gives."""
        with self._calling:
            # In a child that was forked there is no thread.
            is_over = self._ended or not self._thread.is_alive()
            future = None if is_over else asyncio.run_coroutine_threadsafe(work, self._loop)
        return asyncio.run(work) if future is None else future.result()

    async def find(self, id: str) -> TicketRecord:  # noqa: A002 - the field's name
        """Return the record of a ticket.

        Raises:
            ConfigError: when the store has none.
        """
        found = await self.store.find(id)
        if found is None:
            raise ConfigError(f"the store has no ticket {id!r:.80}")
        return found

    # -- how -------------------------------------------------------------------------------------

    def _serve(self) -> None:
        """In a thread: have what waits judged, keep verdicts, tell of what ended."""
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._look_until_closed())
        with self._calling:
            self._ended = True
        self._loop.run_until_complete(_finish_calls())
        self._loop.close()

    async def _look_until_closed(self) -> None:
        while not self._closed or self._judge.live:
            try:
                if self._judges and not self._closed:
                    await self._take_waiting()
                await self._call_back()
            except Exception as error:  # noqa: BLE001 - a disk may be full now, and not later
                self._warn(error)
            await asyncio.sleep(LOOK)

    async def _take_waiting(self) -> None:
        for record in await self.store.waiting(self.fingerprint, self._judges):
            if record.id in self._judge.live or len(self._judge.live) >= self._judges:
                continue
            taken = await self.store.take(record, 0)
            if taken is None:
                return  # another process judges
            asked = await self.store.read_request(record.id)
            work = self._loop.run_in_executor(self._pool, _evaluate, self._env, asked)
            self._judge.start(taken, work)

    async def _call_back(self) -> None:
        """Call back for what ended; the looks at what is watched take a tenth of the time at
        most.
        """
        start = time.monotonic()
        if start < self._next_calls:
            return
        for ticket, callback in list(self.watched):
            if await ticket.look() == "waiting":
                continue
            del self.watched[ticket, callback]
            await self._loop.run_in_executor(self._caller, _call, callback, ticket)
        self._next_calls = time.monotonic() + 9 * (time.monotonic() - start)

    def _warn(self, error: Exception) -> None:
        """Log what the store cannot do, once."""
        text = f"{type(error).__name__}: {error}"
        if text != self._warning:
            logger.warning("tickets: the store cannot be used now: %s", text)
        self._warning = text


async def _finish_calls() -> None:
    """Finish what other threads have called for."""
    calls = asyncio.all_tasks() - {asyncio.current_task()}
    if calls:
        await asyncio.wait(calls)


def _call(callback: Callback, ticket: Ticket) -> None:
    try:
        callback(ticket)
    except Exception:
        logger.exception("a callback of ticket %s failed", ticket.id)


def _to_json(verdict: Verdict) -> bytes:
    return dumps(verdict_to_dict(verdict)).encode()


def _to_request(task: Task, response: Response) -> str:
    """Return the task and the response as JSON.  The token ids of a trajectory are left out.

    Raises:
        TaskError: when JSON would change them.
    """
    given = response.messages if isinstance(response, Trajectory) else response
    plain = given if isinstance(given, str) else [dict(message) for message in given]
    asked = asdict(task, recurse=False) | {"info": dict(task.info), "response": plain}
    try:
        text = json.dumps(asked, allow_nan=False)
        lack = "JSON would change it"
        if json.loads(text) == asked:
            return text
    except (TypeError, ValueError, RecursionError) as error:
        lack = str(error)
    raise TaskError(f"a ticket holds its task and its response as JSON: {lack}", task.id)


def _evaluate(env: Environment, asked: bytes) -> bytes:
    """Return the verdict on what a ticket asks; unscored where a store gave something else."""
    try:
        found = json.loads(asked)
        response = found.pop("response")
        task = Task(**found)
        if not isinstance(found["prompt"], str) or not isinstance(found["info"], dict):
            raise TypeError("not a task")
        return _to_json(next(env.evaluate_many([(task, response)])))
    except Exception as error:  # noqa: BLE001 - anybody may have written it
        return _to_json(_foreign(error))


def _foreign(error: Exception) -> Verdict:
    return Verdict(None, fault=Fault("contract", f"the store holds something else here: {error}"))
