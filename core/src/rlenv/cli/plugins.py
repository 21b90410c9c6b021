"""``rlenv plugins``: what is installed, and what is wrong with it."""

from __future__ import annotations

import click

from .text import block, console, one_line, visible


@click.command("plugins")
@click.option("-v", "--verbose", is_flag=True, help="Show the traceback of what does not load.")
def command(*, verbose: bool) -> None:
    """List the plugins with their distribution, stages and state.

    Every plugin is loaded to see whether it works; a broken one matters only to environments that
    name it.
    """
    from rich.box import SIMPLE
    from rich.table import Table

    from rlenv.plugins import registry

    out = console()
    table = Table("name", "distribution", "version", "stages", "state", box=SIMPLE)
    infos = registry().infos(load=True)
    problems = []
    for info in infos:
        stages, problem = _stages(info.name)
        problem = info.error or problem
        if problem:
            problems.append((info.name, problem))
        state = _state(problem) if problem else f"ok (hooks {info.api})"
        table.add_row(
            visible(info.name), visible(info.distribution), visible(info.version), stages, state
        )
    out.print(table)
    for name, problem in problems:
        text = block(problem, 60) if verbose else one_line(problem.strip().splitlines()[-1], 400)
        out.print(f"{visible(name)}: {text}", soft_wrap=True)
    if problems and not verbose and any("\n" in problem for _, problem in problems):
        out.print("rlenv plugins -v shows the tracebacks")


def _stages(name: str) -> tuple[str, str | None]:
    """How many stages it has, and why that cannot be told."""
    from rlenv.errors import PluginError
    from rlenv.plugins import registry

    try:
        return str(len(registry().stages(name))), None
    except PluginError as error:
        return "-", str(error)


def _state(problem: str) -> str:
    if "two distributions" in problem:
        return "doubled"
    return "newer API" if "built for hook version" in problem else "quarantined"
