"""Progress of a command: a bar or a spinner on a terminal, now and then a plain line elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Timer
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rlenv_cli.console import amount, console, duration, is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.status import Status

PATIENCE = 0.7  # seconds without output until a command says what it waits for
FIRST_LINE = 5.0  # seconds until the first plain line; each next waits 1.5 times as long
LONGEST_WAIT = 600.0
BAR_EVERY = 0.1


@contextmanager
def waiting(text: str, *, quiet: bool = False, log_after: float | None = None) -> Iterator[None]:
    """Show ``text`` on standard error if the block takes long: with a spinner on a terminal, as a
    line elsewhere.

    Args:
        text: what the command is doing.
        quiet: show nothing.
        log_after: seconds until the line; ``FIRST_LINE`` by default.
    """
    terminal = is_terminal(sys.stderr)
    shown: list[Status] = []

    def say() -> None:
        if terminal:
            shown.append(console(stderr=True).status(text))
            shown[0].start()
        else:
            with suppress(OSError):  # nobody reads it any more
                print(f"rlenv: {text}", file=sys.stderr, flush=True)

    timer = Timer(PATIENCE if terminal else log_after or FIRST_LINE, say)
    timer.daemon = True
    if not quiet:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if timer.is_alive():
            timer.join()
        for status in shown:
            status.stop()


class Silent:
    """No progress at all."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        pass

    def advance(self, done: int, mean: float | None, unscored: int) -> None:
        """Say that ``done`` rows have their verdict, with the mean reward so far."""


class Lines(Silent):
    """A line while the first verdict is awaited and after 5 s, then less and less often, at last
    every ten minutes.
    """

    def __init__(self, total: int, already: int) -> None:
        self._total = total
        self._already = already
        self._start = time.monotonic()
        self._wait = FIRST_LINE
        self._next = self._start + FIRST_LINE
        self._first = ExitStack()

    def __enter__(self) -> Self:
        left = amount(self._total - self._already, "row")
        text = f"scoring {left}, waiting for the first verdict"
        self._first.enter_context(waiting(text, log_after=PATIENCE))
        return self

    def __exit__(self, *_: object) -> None:
        self._first.close()

    def advance(self, done: int, mean: float | None, unscored: int) -> None:
        self._first.close()
        now = time.monotonic()
        if now < self._next:
            return
        self._wait = min(self._wait * 1.5, LONGEST_WAIT)
        self._next = now + self._wait
        rate = (done - self._already) / (now - self._start)
        left = duration((self._total - done) / rate) if rate > 0 else "?"
        said = f"{done:,} of {amount(self._total, 'row')}, {_speed(rate)}, {left} left"
        with suppress(OSError):  # nobody reads it any more
            print(f"{said}, {_state(mean, unscored)}", file=sys.stderr, flush=True)


class OnTerminal(Silent):
    """A bar with rate, time left and the running mean."""

    def __init__(self, total: int, already: int) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            ProgressColumn,
            SpinnerColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        screen = console(stderr=True)
        columns: list[ProgressColumn] = [
            SpinnerColumn(),
            TextColumn("scoring"),
            BarColumn(max(4, min(40, screen.width - 72))),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(elapsed_when_finished=True),
        ]
        if screen.width >= 80:
            columns.append(TextColumn("{task.fields[state]}"))
        self._bar: Bar = Progress(*columns, console=screen)
        self._already = already
        self._start = time.monotonic()
        self._next = 0.0
        self._last: tuple[int, float | None, int] = (already, None, 0)
        self._task = self._bar.add_task(
            "scoring", total=total, completed=already, rate="", state=""
        )

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._show()
        self._bar.stop()

    def advance(self, done: int, mean: float | None, unscored: int) -> None:
        self._last = (done, mean, unscored)
        now = time.monotonic()
        if now >= self._next:
            self._next = now + BAR_EVERY
            self._show()

    def _show(self) -> None:
        done, mean, unscored = self._last
        rate = (done - self._already) / max(time.monotonic() - self._start, 1e-6)
        self._bar.update(
            self._task, completed=done, rate=_speed(rate), state=_state(mean, unscored)
        )


def progress(total: int, already: int, *, quiet: bool) -> Silent:
    """The right one for where standard error goes."""
    if quiet:
        return Silent()
    return OnTerminal(total, already) if is_terminal(sys.stderr) else Lines(total, already)


def _state(mean: float | None, unscored: int) -> str:
    said = "no reward yet" if mean is None else f"mean reward {mean:.3f}"
    return f"{said}, {unscored:,} unscored" if unscored else said


def _speed(rate: float) -> str:
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"
