"""One call of ``evaluate_many`` on a cluster: rows go out in batches, and every row gets one
verdict.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias
from uuid import uuid4

from attrs import define, field
from rlenv import Attempt, ConfigError, Fault, RlenvError, Verdict

from .actors import ActorMember, ActorSet
from .replies import problems, verdicts
from .rows import pickled_rows
from .shipment import Shipment

if TYPE_CHECKING:
    from ray import ObjectRef

Rows: TypeAlias = Iterator[Attempt | Verdict]
Numbered: TypeAlias = Iterator[tuple[int, Verdict]]

AHEAD = 2  # batches that an actor has: one that it works on, and the next
WINDOW = 16  # batches for each actor that may be read beyond the oldest without a verdict
TRIES = 3  # actors that a single row may lose
LOOK = 10.0  # seconds between looks at deadlines


@define(eq=False)
class Batch:
    """Rows on their way, with their indices; how many actors died of it so far."""

    rows: list[tuple[int, Attempt]]
    tries: int = 0


@define(eq=False)
class Call:
    """A call of an actor that has not answered: with a batch, or None to load the environment."""

    member: ActorMember
    batch: Batch | None
    deadline: float


@define(eq=False)
class Stream:
    """The batches of one call.

    Args:
        actors: the actors.
        shipment: the environment.
        rows: read as actors become free.
        size: how many rows a batch has.
        timeout: seconds within which an actor answers for a batch; one that does not counts as
            dead.
    """

    actors: ActorSet
    shipment: Shipment
    rows: Rows
    size: int
    timeout: float
    _name: str = field(factory=lambda: uuid4().hex, init=False)
    _calls: dict[ObjectRef, Call] = field(factory=dict, init=False)  # in the order of their start
    _able: set[ActorMember] = field(factory=set, init=False)
    _again: deque[Batch] = field(factory=deque, init=False)
    _ready: deque[tuple[int, Verdict]] = field(factory=deque, init=False)
    _read: int = field(default=0, init=False)
    _more: bool = field(default=True, init=False)
    _broken: Exception | None = field(default=None, init=False)  # what the rows raised

    def run(self) -> Numbered:
        """(index, verdict) pairs in any order.  Left early, it cancels what the actors have.

        Raises:
            ConfigError: a node has other code, another secret, or lacks what the environment needs.
            RlenvError: no actor was ready in time, or the actors were closed.
            Exception: whatever the rows raise, after the verdicts on the rows before.
        """
        try:
            while self._waiting():
                self._fill()
                while self._ready:
                    yield self._ready.popleft()
                if self._calls:
                    self._wait()
        finally:
            self._leave()
        if self._broken is not None:
            raise self._broken

    def _waiting(self) -> bool:
        sent = any(call.batch for call in self._calls.values())
        return self._more or sent or bool(self._again or self._ready)

    def _leave(self) -> None:
        """Let the actors drop what they have of this call, and close the environment when they need
        room.
        """
        for member in self._able | {call.member for call in self._calls.values()}:
            refs = [ref for ref, call in self._calls.items() if call.member is member]
            self.actors.release(member, self.shipment.key, self._name, refs)

    # -- out -------------------------------------------------------------------------------------

    def _fill(self) -> None:
        """Give every actor what it can take: first the environment, then batches, one each and the
        next.
        """
        members = self.actors.members()
        for member in {call.member for call in self._calls.values()}.difference(members):
            self._forget(member)  # another thread dismissed it
        loading = {call.member for call in self._calls.values() if call.batch is None}
        for member in members:
            if member not in self._able | loading:
                self._call(member, None, member.handle.open.remote(self.shipment, self._name))
        able = [member for member in members if member in self._able]
        load = Counter(call.member for call in self._calls.values())
        for ahead in range(AHEAD):
            for member in able:
                if load[member] <= ahead and (batch := self._next(len(able))):
                    self._send(member, batch)

    def _next(self, actors: int) -> Batch | None:
        if self._again:
            return self._again.popleft()
        flying = [call.batch.rows[0][0] for call in self._calls.values() if call.batch]
        if self._read - min(flying, default=self._read) > WINDOW * actors * self.size:
            return None
        rows = list(enumerate(self._taken(), self._read))
        self._read += len(rows)
        self._more = len(rows) == self.size
        self._ready.extend((index, row) for index, row in rows if isinstance(row, Verdict))
        found = [(index, row) for index, row in rows if isinstance(row, Attempt)]
        return Batch(found) if found else None

    def _taken(self) -> Rows:
        try:
            yield from islice(self.rows, self.size)
        except Exception as error:  # noqa: BLE001 - raised when all rows before have verdicts
            self._broken = error

    def _send(self, member: ActorMember, batch: Batch) -> None:
        try:
            blob = pickled_rows(at for _, at in batch.rows)
        except Exception as error:  # noqa: BLE001 - pickling runs code of the tasks
            self._failed(batch, "contract", f"a task cannot be sent on: {error}", transient=False)
        else:
            self._call(member, batch, member.handle.evaluate.remote(self.shipment.key, blob))

    def _call(self, member: ActorMember, batch: Batch | None, ref: ObjectRef) -> None:
        patience = self.timeout * (AHEAD if batch else 1)  # for the batch before it too
        self._calls[ref] = Call(member, batch, time.monotonic() + patience)

    # -- back ------------------------------------------------------------------------------------

    def _wait(self) -> None:
        import ray

        now = time.monotonic()
        first = min((call.deadline for call in self._calls.values()), default=now)
        seconds = min(max(first - now, 0.0), LOOK)
        done, _ = ray.wait(list(self._calls), num_returns=1, timeout=seconds)
        for ref in done:
            self._answered(ref, self._calls[ref])
        if not done:
            self._look()

    def _look(self) -> None:
        now = time.monotonic()
        late = [call for call in self._calls.values() if call.deadline < now]
        for call in late:
            if call.batch is None and not any(other.batch for other in self._calls.values()):
                lack = f"no actor was ready within {self.timeout:g} s"
                raise RlenvError(f"{lack}: see `ray status` for the free CPUs of the cluster")
            self._forget(call.member)

    def _answered(self, ref: ObjectRef, call: Call) -> None:
        import ray
        from ray.exceptions import RayError

        try:
            reply = ray.get(ref)
        except RayError as error:
            self._died(call, error)
            return
        del self._calls[ref]
        if call.batch is None:
            self._loaded(call.member, reply)
        else:
            self._judged(call.batch, reply)

    def _loaded(self, member: ActorMember, reply: object) -> None:
        if lines := problems(reply):
            what = "an actor cannot evaluate as this process does"
            raise ConfigError(*[f"{what}: {line}" for line in lines])
        member.started = True
        self._able.add(member)

    def _judged(self, batch: Batch, reply: object) -> None:
        try:
            found = verdicts(reply, len(batch.rows), self.shipment.fingerprint)
        except ValueError as error:
            self._failed(batch, "contract", str(error), transient=False)
        else:
            indices = (index for index, _ in batch.rows)
            self._ready.extend(zip(indices, found, strict=True))

    def _died(self, call: Call, error: Exception) -> None:
        """An actor died, or its node.  One that cannot even start never will."""
        if call.batch is None and (
            getattr(error, "actor_init_failed", False) or hasattr(error, "as_instanceof_cause")
        ):
            lines = [line for line in str(error).splitlines() if line.strip()]
            remedy = "install rlenv, rlenv-ray and the plugins on every node"
            raise ConfigError(f"an actor cannot start ({lines[-1].strip()}): {remedy}")
        self._forget(call.member)

    def _forget(self, member: ActorMember) -> None:
        """Take back what an actor has: what it worked on may have killed it, the next batch did
        not.
        """
        self.actors.dismiss(member)
        lost = [ref for ref, call in self._calls.items() if call.member is member]
        batches = [batch for ref in lost if (batch := self._calls.pop(ref).batch)]
        for batch in batches[:1]:
            message = "its actor died, and so did those that took it over"
            self._failed(batch, "crash", message, transient=True)
        self._again.extend(batches[1:])

    def _failed(self, batch: Batch, kind: str, message: str, *, transient: bool) -> None:
        """Try again, in halves from the second time; a single row that fails again and again is
        unscored.
        """
        batch.tries += 1
        half = len(batch.rows) // 2
        if batch.tries < TRIES - bool(half):
            self._again.append(batch)
        elif half:
            halves = batch.rows[:half], batch.rows[half:]
            self._again.extend(Batch(rows, 1) for rows in halves)
        else:
            fault = Fault(kind, message, transient)
            verdict = Verdict(None, fingerprint=self.shipment.fingerprint, fault=fault)
            self._ready.append((batch.rows[0][0], verdict))
