"""The workers of one environment: its program, and the shared pool it holds while it needs it."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from rlenv.compose.stages import Attempt
from rlenv.engine.checks import faulted
from rlenv.engine.engine import Evaluation
from rlenv.engine.plan import CompiledSlot, Plan
from rlenv.model.errors import reject
from rlenv.model.values import StageResult
from rlenv.workers.board import UNCOUNTED
from rlenv.workers.values import Done, Env, Failed, PoolClosed, Program, Replies, Reply, refused

from . import serialization as wire
from .budget import limit_of, undecided
from .worker_runtime import kinds_of, pickle_plan

if TYPE_CHECKING:
    from concurrent.futures import Future

    from rlenv.workers.items import Decode
    from rlenv.workers.pool import Pool

_lock = threading.Lock()  # held for no import
os.register_at_fork(after_in_child=_lock._at_fork_reinit)  # type: ignore[attr-defined]


class WorkerExecutor:
    """Built with the environment, so that what cannot travel is rejected there.

    Processes start when used.

    Raises:
        ConfigError: when a stage that must run in a worker can be neither imported nor pickled
            there, and with every file of a function that a worker cannot import.
    """

    def __init__(self, plan: Plan, memory_mb: int | None) -> None:
        self.plan = plan
        self._memory_mb = memory_mb
        places = [slot for slot in plan.leaves if slot.place != "caller"]
        shipped = {env: pickle_plan(plan, env) for env in {slot.env for slot in places}}
        self._blobs = {env: blob for env, (blob, _) in shipped.items()}
        lefts = [left for _, left in shipped.values()]
        self.complete = not any(lefts)
        # What cannot travel, and why.
        self.left = {slot: why for left in lefts for slot, why in left.items() if why}
        self._decode = {env: self._decoder(left) for env, (_, left) in shipped.items()}
        self._limits = tuple(limit_of(slot) for slot in places)
        self.warnings = [
            f"{slot.who} cannot be sent to a worker, so a long response to it may hold "
            "an event loop: move its class into a module, and keep open files and locks out of it"
            for slot in self.left
        ]
        self.pools: dict[tuple[int | None, Env], Pool] = {}  # the first takes a moment
        try:
            self._import_files()
        except BaseException:  # also Ctrl-C: nobody else has what would close the workers
            self.close()
            raise

    def _decoder(self, left: Iterable[CompiledSlot]) -> Callable[[object], wire.Progress]:
        """What reads the answers of workers that lack some stages, of which they may not speak."""
        leaves = [slot for slot in self.plan.leaves if slot not in left]
        return partial(wire.decode_progress, {slot.path for slot in leaves}, kinds_of(leaves))

    def pool(self, size: int | None, env: Env) -> Pool:
        pool = self.pools.get((size, env))
        if pool is None:
            from rlenv.identity.secret import WITHHELD, handed_on
            from rlenv.workers.pool import shared_pool

            key = handed_on() if env is None or "RLENV_SECRET" in env else WITHHELD
            with _lock:
                pool = self.pools.get((size, env)) or shared_pool(size, self._memory_mb, key, env)
                self.pools[size, env] = pool
        return pool

    def program(self, env: Env, runner: str = "Runner") -> Program:
        return Program(f"rlenv.runtime.worker_runtime:{runner}", self._blobs[env])

    def stream(self, attempts: Iterable[Attempt | None], size: int | None) -> Replies:
        """Whole attempts through the workers, where all stages came along to them (``complete``).

        None is unsent.
        """
        (env,) = self._blobs
        payloads = (attempt and wire.encode_payload(attempt) for attempt in attempts)
        program = self.program(env)
        decode = self._decode[env]
        return self.pool(size, env).stream(program, payloads, decode, self._limits)

    def check(
        self, slot: CompiledSlot, attempt: Attempt, size: int | None
    ) -> Evaluation[StageResult]:
        """Steps to the result of ``slot``, at which the attempt is, from a pool of this size."""
        self.learn(attempt, slot, (yield self.submit(attempt, slot, size)))
        return attempt.known.pop(0)

    def submit(self, attempt: Attempt, slot: CompiledSlot, size: int | None) -> Future[Reply]:
        """Send one attempt on from where its log ends, at ``slot``."""
        what = wire.encode_payload(attempt)
        decode = self._decode[slot.env]
        return self._sent("Runner", slot.env, what, decode, size)

    def check_group(self, slot: CompiledSlot, attempts: Sequence[Attempt]) -> list[StageResult]:
        """What a stage in a worker finds of several responses to one task; blocks this thread."""
        payloads = [(wire.encode_attempt(a), None, a.artifacts or None, True) for a in attempts]
        decode = partial(wire.decode_group, self._decode[slot.env], slot.path, len(attempts))
        reply = self._sent("GroupRunner", slot.env, (slot.index, payloads), decode).result()
        if isinstance(reply, Failed):
            return [failure(slot, reply) for _ in attempts]
        members = cast("list[wire.Progress]", reply.value)
        for attempt, (_, made) in zip(attempts, members, strict=True):
            attempt.artifacts.update((type(artifact), artifact) for artifact in made)
        return [results[0] for results, _ in members]

    def _sent(
        self, runner: str, env: Env, what: wire.Wire, decode: Decode, size: int | None = None
    ) -> Future[Reply]:
        pool = self.pool(size, env)
        program = self.program(env, runner)
        try:
            return pool.submit(program, what, decode, self._limits)
        except Exception as err:  # noqa: BLE001 - pickling runs code of the task and of the artifacts
            kind = "pool" if isinstance(err, PoolClosed) else "contract"  # closed by another thread
            return refused(kind, f"a task or artifact cannot be sent on: {err}"[:500])

    def _import_files(self) -> None:
        """Import the files that functions come from, so that what fails is known before a response
        comes.

        An import may take 30 CPU seconds.
        """
        from rlenv.config.references import FileFunction

        problems: list[str] = []
        program = Program("rlenv.workers.call:make_runner", b"rlenv.config.references:import_file")
        for slot in self.plan.leaves:
            own = getattr(slot.stage, "function", None)
            if slot.place == "worker" and isinstance(own, FileFunction):
                reply = self.pool(None, slot.env).submit(program, ((own,), 30.0)).result()
                if isinstance(reply, Failed):
                    problems.append(f"{slot.who}: importing the file failed: {reply.message}")
        reject(problems)

    def learn(self, attempt: Attempt, slot: CompiledSlot, reply: Reply) -> None:
        """Put what a worker answered into the attempt, so that it is known.

        ``slot`` was asked for.
        """
        progress = reply.value if isinstance(reply, Done) else reply.partial
        results, made = cast("wire.Progress", progress or ([], ()))
        attempt.artifacts.update((type(artifact), artifact) for artifact in made)
        if isinstance(reply, Failed):
            slots = self.plan.leaves
            index = max(reply.mark, UNCOUNTED - reply.mark)
            at = slots[index] if 0 <= index < len(slots) else slot
            results.append(failure(at, reply))
        elif not results:
            results.append(faulted(slot, "pool", "the worker has no such stage"))
        attempt.known = results

    def close(self) -> None:
        with _lock:
            pools = list(self.pools.items())
            self.pools = {}
        for (_, env), pool in pools:
            for runner in ("Runner", "GroupRunner"):
                pool.forget(self.program(env, runner))
            pool.release()


def failure(slot: CompiledSlot, failed: Failed) -> StageResult:
    """What a stage comes to that a worker did not finish."""
    budget = slot.budget or math.inf
    late = failed.kind == "timeout"
    full = failed.kind == "memory" and failed.mark >= 0
    if failed.cpu >= budget or (full and budget < math.inf):
        return undecided(slot, failed.cpu, memory=full)
    starved = failed.kind == "pool" or (late and budget < math.inf)
    spent = slot.timeout if late else failed.seconds
    return faulted(slot, failed.kind, failed.message, spent, transient=starved)
