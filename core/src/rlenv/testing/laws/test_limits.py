"""Limits: a verdict comes in time, whatever the size of the response, and nobody is kept waiting."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Iterator
from typing import Any

from rlenv.composites import Composite
from rlenv.stages import Attempt
from rlenv.testing.bench import Pair
from rlenv.testing.law import case, law, require, skip
from rlenv.testing.probing import probe
from rlenv.testing.subject import Subject
from rlenv.values import StageResult

UNITS = (
    "a", "0", " ", "\n", "(", "{", "[", "\\", "$", "-", ",", "ab ", "1,", "x+", "<a>", "`", '"', "\u0301", "\\boxed{", "<think>", "a" * 99 + " ", "é", "*", "#",
)  # fmt: skip
HELD = 0.5  # seconds; whoever awaits gives the loop back within milliseconds
SIZES = (30, 1_000, 20_000, 200_000)


@law
def test_limits(subject: Subject) -> None:
    """A verdict comes in time for a response of any size: what a policy writes must not stop the verifier."""
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
    """An inline stage is done at once: it holds the caller's thread, so it neither sleeps nor waits."""
    if getattr(subject.stage, "where", "worker") != "inline":
        skip("it is no inline stage")
    seen = probe(subject)
    require(not seen.slept, "it sleeps at " + ", ".join(seen.slept[:3]))


@law
def test_loop(subject: Subject) -> None:
    """An async stage awaits what it waits for: one that blocks stops every other stage on the loop."""
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
    """How long the check holds its loop at a time; the least of three tries, since a machine may be busy."""
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
