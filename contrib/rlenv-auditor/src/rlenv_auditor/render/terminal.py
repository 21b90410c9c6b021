"""Prints a scorecard: first the conclusion, then the findings, then the figures, and last what was
skipped.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text
from rlenv_cli.console import amount, one_line, visible

from rlenv_auditor.conclusion import conclusion, omitted
from rlenv_auditor.model import Scorecard

__all__ = ["show"]

COLORS = {"critical": "red", "high": "red", "medium": "yellow", "low": "cyan"}
MOST = 8  # findings on the screen


def show(card: Scorecard, screen: Console) -> None:
    """Print the scorecard."""
    _verdict(card, screen)
    _findings(card, screen)
    screen.print(_answers(card.questions))
    if card.asides:
        screen.print(Text("Other questions", "bold"))
        screen.print(_answers(card.asides))
    if left := omitted(card):
        _dim(screen, left)


def _verdict(card: Scorecard, screen: Console) -> None:
    """Print the conclusion, the advice, and which limits are exceeded."""
    said = conclusion(card)
    color = "green" if said.status == "clean" else "yellow"
    if card.crossed:
        color = "red"
    screen.print(Text(visible(f"{card.target}: {said.headline}"), f"bold {color}"))
    screen.print(Text(visible(said.advice)))
    for line in card.crossed:
        screen.print(Text.assemble(("exceeded ", "red"), visible(line)))
    part = card.tasks < card.tasks_in_all
    sampled = f"{card.tasks} of {card.tasks_in_all} tasks" if part else amount(card.tasks, "task")
    kinds = ", ".join(card.archetypes) or "a function"
    _dim(screen, f"{kinds} · {sampled} · seed {card.seed} · {card.profile} · {card.seconds:.1f} s")


def _findings(card: Scorecard, screen: Console) -> None:
    for one in card.findings[:MOST]:
        severity = (f"{one.severity:9}", COLORS[one.severity])
        screen.print(Text.assemble(severity, one_line(one.title, 100)))
        _dim(screen, f"         {one.id} · {one_line(repr(one.response), 70)}")
    if len(card.findings) > MOST:
        _dim(screen, f"… and {len(card.findings) - MOST} more: --html or --json has them all")


def _dim(screen: Console, words: str) -> None:
    screen.print(Text(visible(words), "dim"))


def _answers(pairs: Sequence[tuple[str, str]]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for question, answer in pairs:
        table.add_row(question, Text(visible(answer)))
    return table
