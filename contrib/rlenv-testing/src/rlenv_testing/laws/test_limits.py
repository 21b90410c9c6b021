"""Limits: a verdict comes in time, whatever the size of the response, and nobody is kept
waiting.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Iterator
from typing import Any

from rlenv.compose.composites import Composite
from rlenv.compose.stages import Attempt, attribute
from rlenv.model.values import StageResult

from rlenv_testing.bench import Pair
from rlenv_testing.law import case, law, require, skip
from rlenv_testing.probe import INLINE_CPU, Wish
from rlenv_testing.probing import probe
from rlenv_testing.subject import Subject

UNITS = (
    "a", "0", " ", "\n", "(", "{", "[", "\\", "$", "-", ",", "ab ", "1,", "x+", "<a>", "`", '"',
    "\u0301", "\\boxed{", "<think>", "a" * 99 + " ", "é", "*", "#",
)  # fmt: skip
SHORT_UNITS = (
    "[1] ", "1. ", "```\n", "```python\nx\n```\n", "| a | b |\n", "# a\n", "* a\n", ")(", "][",
    "}{", "{}", "[]", "()", "\\frac", "^", "=", "1+", "x^2 ", "</think>", "'", ";", "A. ",
    "https://a.b ", "a@b.c ",
)  # fmt: skip
HELD = 0.5  # seconds; whoever awaits gives the loop back within milliseconds
SIZES = (30, 1_000, 20_000, 200_000)


@law
def test_limits(subject: Subject) -> None:
    """A verdict comes in time for a response of any size: what a policy writes must not stop the
    verifier.
    """
    task = subject.tasks[0]
    known = [response for _, response in sorted(subject.mixture, key=lambda p: -len(p[1]))][:2]
    for size in SIZES:
        for response, recipe in _long(known, size):
            subject.counted += 1
            result = subject.result(task, response)
            what = f"no verdict in {subject.effort.patience:g} s: it hangs on {recipe}"
            require(_in_time(result), what, *case((task, response), result))


def _in_time(result: StageResult) -> bool:
    fault = result.fault
    return fault is None or fault.kind not in ("timeout", "memory", "crash", "blocked")


def _long(known: list[str], size: int) -> Iterator[tuple[str, str]]:
    """Long responses, and how each is made."""
    for unit in UNITS:
        count = size // len(unit) + 1
        yield unit * count + "!", f"{unit!r} {count:,} times and '!'"
    if size > 20_000:
        return
    for text in known:
        yield text * (size // max(1, len(text)) + 1), f"{text!r:.60} until {size:,} characters"
        for at in sorted({len(text) * k // 5 for k in range(5)} if text else ()):
            grown = text[:at] + text[at] * size + text[at:] + "!"
            yield grown, f"{text!r:.60} with its character {at} {size:,} times"


@law
def test_inline(subject: Subject) -> None:
    """An inline stage holds the caller's thread: it does not sleep, says if it waits, and costs 10
    ms within its limit.
    """
    stage = subject.stage
    if getattr(stage, "where", "worker") != "inline":
        skip("it is no inline stage")
    seen = probe(subject)
    require(not seen.slept, "it sleeps at " + ", ".join(seen.slept[:3]))
    waits = not seen.called or attribute(stage, "waits")
    where = ", ".join(seen.called[:3])
    require(waits, f"it waits for rlenv.workers.call at {where}: declare waits = True")
    if subject.bench.group_only:
        return
    limit: int = attribute(stage, "inline_limit")
    known = [response for _, response in sorted(subject.mixture, key=lambda p: -len(p[1]))][:2]
    made = [(task, *row) for task in subject.tasks[:3] for row in _within(known, limit)]
    pairs = [(task, response) for task, response, _ in made]
    costs = probe(subject, Wish(costs=True), pairs).costs
    worst = max(range(len(costs)), key=costs.__getitem__)
    require(
        costs[worst] <= INLINE_CPU,
        f"it takes {costs[worst] * 1e3:.0f} ms of CPU for {made[worst][2]}, within its inline_limit"
        f" of {limit:,} characters: make it cheaper, or declare a smaller inline_limit",
        *case(pairs[worst]),
    )


def _within(known: list[str], limit: int) -> Iterator[tuple[str, str]]:
    """Responses of as many characters as an inline stage must bear on a loop, and how each is
    made.
    """
    for unit in (*UNITS, *SHORT_UNITS):
        yield (unit * (limit // len(unit) + 1))[:limit], f"{unit!r} until {limit:,} characters"
    for text in known:
        for part in filter(None, (text, text[:1], text[-1:], f"{text}\n", *text.split()[:3])):
            yield (
                (part * (limit // len(part) + 1))[:limit],
                f"{part!r:.60} until {limit:,} characters",
            )


@law
def test_loop(subject: Subject) -> None:
    """An async stage awaits what it waits for: one that blocks stops every other stage on the
    loop.
    """
    stage = subject.stage
    check = getattr(stage, "check", None) or getattr(stage, "check_group", None)
    if check is None or isinstance(stage, Composite) or not inspect.iscoroutinefunction(check):
        skip("its check is not async")
    seen = probe(subject)
    require(not seen.held, "it calls time.sleep at " + ", ".join(seen.held[:3]))
    if subject.bench.group_only:
        return
    for pair in subject.mixture[:5]:
        subject.counted += 1
        result = subject.result(*pair)
        blocked = result.fault is not None and result.fault.kind in ("blocked", "timeout")
        require(not blocked, "it keeps the event loop", *case(pair, result))
        if not subject.before:
            gap = _held(check, pair, subject.effort.patience)
            require(gap < HELD, f"it kept the event loop for {gap:.1f} s", *case(pair))


def _held(check: Callable[[Attempt], Any], pair: Pair, seconds: float) -> float:
    """How long the check holds its loop at a time; the least of three tries, since a machine may be
    busy.
    """
    least = seconds
    for _ in range(3):
        least = min(least, asyncio.run(_longest_gap(check, pair, seconds)))
        if least < HELD:
            break
    return least


async def _longest_gap(check: Callable[[Attempt], Any], pair: Pair, seconds: float) -> float:
    """The longest that a heartbeat on the stage's own loop had to wait."""
    gaps = [0.0]

    async def beat() -> None:
        while True:
            start = time.monotonic()
            await asyncio.sleep(0.01)
            gaps.append(time.monotonic() - start)

    heart = asyncio.create_task(beat())
    await asyncio.sleep(0)
    try:
        async with asyncio.timeout(seconds):
            await check(Attempt(*pair))
        await asyncio.sleep(0.02)  # the beat that was held up must come
    except Exception:  # noqa: BLE001, S110 - what it raises is the business of the law 'total'
        pass
    finally:
        heart.cancel()
    return max(gaps)
