"""Which workers must be killed, and what becomes of the items of those that ended."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from signal import Signals

from attrs import frozen

from . import board as b
from . import wire
from .board import LEAST_SHARE, Begun
from .items import Item
from .process import HOARDS, Worker, cpu_seconds
from .report import BEAT_SECONDS
from .serve import OUT_OF_MEMORY
from .values import Failed

ASYNC_SLACK = 0.5  # seconds that an item on a loop has to cancel itself
STALE = 6 * BEAT_SECONDS  # a loop that has not beaten for so long is blocked
LATE = 1.0  # seconds after the longest limit without any news
SPEED = 1e7  # bytes a second in which a payload arrives, also on a loaded machine
NO_DELAYS: Mapping[int, float] = {}
TRIES = 3  # deaths of workers around an item before it runs alone; twice that before it is given up


@frozen
class Late:
    """Why a worker must be killed.

    Args:
        seqs: the items past their deadline.
        silent: seconds since its loop last beat.
        cpu: seconds that the worker has used.
        doubt: an earlier item may have taken the time.
        hidden: the board does not say so, but the caller's clock does.
    """

    seqs: tuple[int, ...]
    silent: float = 0.0
    cpu: float = 0.0
    doubt: bool = False
    hidden: bool = False


def find_late(worker: Worker, now: float) -> Late | None:
    """Look at the clock and at the board of a living worker, which it may have written over."""
    begun = _begun(worker)
    cpu = cpu_seconds(worker.pid) if any(one[5] for one in begun) else 0.0
    delays = worker.delays.look(worker.pid, begun, now) if begun else {}
    beat = worker.board.d[b.BEAT]
    running = worker.board.q[b.CURRENT]
    silent = now - beat if worker.born <= beat <= now else math.inf
    seqs = overdrawn(begun, cpu)
    doubt = bool(seqs) and worker.crowded(anyone=True)
    if not seqs:
        loop = running if worker.looped else None
        seqs = overdue(begun, now, cpu, loop, silent, delays=delays)
        doubt = bool(seqs) and _doubtful(worker, begun, seqs, now)
    hidden = not seqs and _overlong(worker, now)
    if hidden:
        silent = math.inf
        doubt = True
        seqs = [*worker.items] if worker.looped else [next(iter(worker.items))]
    return Late(tuple(seqs), silent, cpu, doubt, hidden) if seqs else None


def _doubtful(worker: Worker, begun: list[Begun], late: list[int], now: float) -> bool:
    """Whether an earlier item may have made these late, or have written so."""
    mine = [
        (worker.items[one[0]], one[3]) for one in begun if one[0] in late and one[0] in worker.items
    ]
    timely = all(item.sent <= began <= now for item, began in mine)
    # Of items that have not answered yet, one may have started anything just now.
    return not timely or worker.crowded(anyone=next(iter(worker.items), 0) not in late)


def _overlong(worker: Worker, now: float) -> bool:
    """Whether it has had no news of its items for longer than one of them may take, whatever its
    board says.
    """
    spent = now - worker.moved - LATE
    if spent <= 0.0 or not worker.items:
        return False
    items = worker.items.values() if worker.looped else (next(iter(worker.items.values())),)
    limit = max(max(one.sink.limits, default=math.inf) for one in items)
    limit = max(limit, worker.grace_period) if worker.building else limit
    return spent > limit + sum(len(one.blob) for one in items) / SPEED


def _begun(worker: Worker) -> list[Begun]:
    return worker.board.begun(b.SLOTS if worker.looped else 1)


def attribute_failure(worker: Worker, late: Late | None) -> Iterator[tuple[Item, Failed | None]]:
    """The items that died with the worker, with their results; None for those to run again.

    Who writes on the board may be another item: where others were there too, who is suspected runs
    once more, alone.
    """
    found = {one[0]: one for one in _begun(worker) if one[0] in worker.items}
    doubt = late is None or late.doubt or (worker.looped and worker.company)
    if worker.looped and worker.board.q[b.CURRENT] not in {0, *found}:
        doubt = True  # what an item left on the loop
    suspects = _suspects(worker, found, late)
    many = worker.looped and len(suspects) > 1
    kind = "timeout" if late else "crash"
    for seq, item in worker.items.items():
        if item.done:
            continue
        failed: Failed | None = None
        if seq in suspects and not (many and doubt):
            here = found.get(seq, (seq, -1, 0.0, 0.0, 0.0, 0.0))
            failed = _failure(worker, item, kind, here, late)
            failed = None if excused(worker, seq, item, failed.kind, doubt=doubt) else failed
        else:
            item.tries += 1
            item.solo = item.solo or seq in suspects or item.tries >= TRIES
            item.fresh = item.fresh or (worker.forged and item.solo)
            item.partial = None
            if item.tries >= 2 * TRIES:
                what = f"{item.tries} workers died around this item; the last one {ending(worker)}"
                failed = Failed("pool", what)
        yield item, failed


def _suspects(worker: Worker, begun: Collection[int], late: Late | None) -> Collection[int]:
    seqs, silent = (late.seqs, late.silent) if late else ((), 0.0)
    if not worker.looped and (worker.forged or (late and late.hidden)):
        return {next(iter(worker.items), 0), *(begun if worker.forged else ())}
    everyone = begun if begun or not late else worker.items
    alone = not worker.looped or not worker.company
    return suspected(everyone, seqs, worker.board.q[b.CURRENT], silent, alone=alone)


def excused(worker: Worker, seq: int, item: Item, kind: str = "", *, doubt: bool = False) -> bool:
    """Whether a failure may be its worker's, in which case the item runs once more, alone in a
    fresh one.
    """
    first = seq == 1 and not worker.company
    if item.fresh or first or not (worker.worn or doubt or kind == "memory"):
        return False
    item.fresh = item.solo = True
    item.partial = None
    return True


def _failure(worker: Worker, item: Item, kind: str, one: Begun, late: Late | None) -> Failed:
    _, mark, _, began, base, _ = one
    message = "killed at its deadline" if kind == "timeout" else f"the worker {ending(worker)}"
    if kind != "timeout" and (worker.manner == HOARDS or worker.popen.returncode == OUT_OF_MEMORY):
        kind = "memory"
        message = "the worker had no memory left"
    spent = worker.ended - began
    spent = spent if 0.0 <= spent < worker.ended - worker.born else 0.0
    cpu = late.cpu - max(0.0, base) if late and overdrawn([one], late.cpu) else 0.0
    seconds = (spent, cpu)
    try:
        partial = item.partial and wire.load(item.partial)
        return item.fail(kind, message, mark, partial, *seconds)
    except Exception:  # noqa: BLE001 - it may have written anything before it died
        return item.fail(kind, message, mark, None, *seconds)


def ending(worker: Worker) -> str:
    """How it ended ("was killed by SIGSEGV"), and where, when the interpreter could say it."""
    code = worker.popen.returncode
    if worker.manner or code is None:
        how = worker.manner or "does not end"
    elif code >= 0:
        how = f"exited with status {code}"
    else:
        name = next((one.name for one in Signals if one == -code), f"signal {-code}")
        how = f"was killed by {name}"
    text = worker.tail.decode("utf-8", "replace")
    found = re.search(r'Current thread [^\n]*\n  File "([^"]*)", line (\d+) in (\S+)', text)
    place = f" ({found[1].rpartition('/')[2]}:{found[2]} in {found[3]})" if found else ""
    return how + place


def final_output(worker: Worker) -> str:
    """The last line that it wrote to stderr; only of a worker that never saw an item."""
    lines = worker.tail.decode("utf-8", "replace").strip().splitlines()
    return f" before it was ready: {lines[-1][:300]}" if lines else " before it was ready"


def overdrawn(begun: Sequence[Begun], cpu: float) -> list[int]:
    """The items past their CPU limit (0.0 is none)."""
    return [seq for seq, *_, base, limit in begun if 0.0 < abs(limit) <= cpu - base]


def overdue(
    begun: Sequence[Begun],
    now: float,
    cpu: float,
    running: int | None = None,
    silent: float = 0.0,
    *,
    delays: Mapping[int, float] = NO_DELAYS,
) -> list[int]:
    """The items past their deadline, but for those in a cold worker that still compute: their CPU
    limit ends them.

    On a loop (``running`` is not None) an item has more time, to cancel itself.  Where one blocks
    the loop, it has no such time, since it cannot use it, and the others, which cannot help it,
    have more: so its own deadline comes first where it can.  The time that an item was ready to run
    and got no processor (``delays``) does not count.
    """
    blocked = silent >= STALE and any(one[0] == running for one in begun)
    slack = 0.0 if running is None else ASYNC_SLACK * (1 + blocked)
    return [
        seq
        for seq, _, end, began, base, limit in begun
        if not now - delays.get(seq, 0.0) <= end + (0.0 if blocked and seq == running else slack)
        and not (limit < 0.0 and (cpu - base) >= LEAST_SHARE * (now - began))
    ]


def suspected(
    everyone: Collection[int], late: Collection[int], running: int, silent: float, *, alone: bool
) -> Collection[int]:
    """Who may have ended a worker.

    Args:
        everyone: the items that had begun.
        late: of a worker that was killed for lateness, the items past their deadline.
        running: the item whose callback the loop ran, 0 when that is unknown; it may have ended
            before.
        silent: seconds since the loop last beat, when the worker was found late.
        alone: only one item was in flight: then it is that item.
    """
    if late and (alone or silent < STALE):
        return set(everyone).intersection(late)
    return everyone if alone or not running else {running}.intersection(everyone)
