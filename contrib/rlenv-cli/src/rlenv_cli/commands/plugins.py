"""``rlenv plugins``: what is installed, and what is wrong with it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from traceback import format_exception

import click
from attrs import field, frozen
from rlenv.model.errors import PluginError
from rlenv.plugins.entry_points import PluginInfo

from rlenv_cli.console import block, console, one_line, visible


@frozen
class Tried:
    """What loading a plugin and each of its stages showed: its state, and every problem with its
    traceback.
    """

    info: PluginInfo
    stages: str
    state: str
    problems: list[tuple[str, str]] = field(factory=list)


@click.command("plugins")
@click.option(
    "-v", "--verbose", is_flag=True, help="Show tracebacks of plugins and stages that do not load."
)
def command(*, verbose: bool) -> None:
    """List installed plugins with their distribution, stages and errors.

    Every plugin and every stage is loaded to find errors. A plugin with an error affects only
    environments that use it.
    """
    from rich.box import SIMPLE
    from rich.table import Table

    out = console()
    table = Table("name", "distribution", "version", "stages", "state", box=SIMPLE)
    tried = list(_tried())
    for each in tried:
        info = each.info
        cells = map(visible, (info.name, info.distribution, info.version))
        table.add_row(*cells, each.stages, each.state)
    out.print(table)
    problems = [problem for each in tried for problem in each.problems]
    for said, trace in problems:
        text = block(trace, 60) if verbose and trace else one_line(said, 600)
        out.print(text, soft_wrap=True)
    if not verbose and any(trace for _, trace in problems):
        out.print("rlenv plugins -v shows the tracebacks")


def _tried() -> Iterator[Tried]:
    from rlenv.plugins.registry import registry

    with redirect_stdout(sys.stderr):  # what a plugin prints while it is imported is not the list
        for info in registry().infos():
            yield _try(info.name)


def _try(name: str) -> Tried:
    from rlenv.plugins.registry import registry

    known = registry()
    try:
        stages = known.stages(name)
    except PluginError as error:
        info = known.info(name)
        said = info.error or str(error)
        return Tried(info, "-", _state(said), [(said.partition("\n")[0], _trace(said, error))])
    problems = []
    for short in sorted(stages):
        try:
            known.stage_type(f"{name}/{short}")
        except PluginError as error:
            problems.append((str(error), _trace("", error)))
    broken = f"{len(problems)} of {len(stages)} do not load"
    info = known.info(name)
    state = broken if problems else f"ok (hooks {info.api})"
    return Tried(info, str(len(stages)), state, problems)


def _trace(said: str, error: PluginError) -> str:
    """The traceback that the registry kept, or that of what the plugin raised; "" where it raised
    nothing.
    """
    if "\n" in said or error.__cause__ is None:
        return said if "\n" in said else ""
    return f"{error}\n{''.join(format_exception(error.__cause__))}"


def _state(problem: str) -> str:
    if "two distributions" in problem:
        return "doubled"
    return "newer API" if "built for hook version" in problem else "quarantined"
