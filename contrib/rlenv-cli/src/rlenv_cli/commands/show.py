"""``rlenv show``: the parts of one environment: its tasks, its verifier, its configuration, the
tables of plugins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import attrs
import click
from rlenv.compose.composites import NUMBERS, Composite, Slot

from rlenv_cli import environments
from rlenv_cli.console import amount, block, console, one_line, visible

if TYPE_CHECKING:
    from rlenv.environment import Environment


@click.command("show")
@click.argument("env", metavar="ENV")
@environments.set_option
def command(*, env: str, settings: tuple[str, ...]) -> None:
    """Show the parts of the environment ENV: tasks (T), verifier (V), configuration (C) and tables
    of plugins.

    Example: rlenv show env.toml
    """
    out = console()
    with environments.load(env, settings) as loaded:
        for line in _lines(loaded):
            out.print(line, soft_wrap=True)


def _lines(env: Environment) -> Iterator[str]:
    yield visible(env.name)
    yield f"\nT  {_tasks(env)}"
    yield f"\nV  {type(env.root).__name__}"
    yield from _stages(env.slots, 1)
    yield f"\nC  pass_mark {env.pass_mark:g}, thinking {env.thinking}"
    yield f"   fingerprint {env.fingerprint}"
    for name, table in env.tables.items():
        yield f"\n[{visible(name)}]"
        yield from _table(table)


def _tasks(env: Environment) -> str:
    if not env.tasks:
        return "no tasks"
    splits = Counter(task.split for task in env.tasks)
    each = ", ".join(f"{visible(name)} {n:,}" for name, n in splits.items())
    return f"{amount(len(env.tasks), 'task')} ({each}); the first is {one_line(env.tasks.ids[0])}"


def _stages(slots: Sequence[Slot], depth: int) -> Iterator[str]:
    for slot in slots:
        numbers = [f"{key} {getattr(slot, key):g}" for key in NUMBERS if getattr(slot, key)]
        options = [f"{key} = {value!r}" for key, value in slot.options.items()]
        told = one_line(", ".join([*numbers, *options]), 200)
        yield f"{'   ' * depth}{visible(slot.name)}: {visible(slot.kind)}  {told}".rstrip()
        if isinstance(slot.stage, Composite):
            yield from _stages(slot.stage.slots, depth + 1)


def _table(table: object) -> Iterator[str]:
    """What the table's own ``show()`` returns, else its fields."""
    show = getattr(table, "show", None)
    if callable(show):
        yield block(str(show()), 100)
    elif attrs.has(type(table)):
        for key, value in attrs.asdict(table, recurse=False).items():  # type: ignore[arg-type]
            yield f"   {key} = {one_line(repr(value), 200)}"
    else:
        yield f"   {one_line(repr(table), 200)}"
