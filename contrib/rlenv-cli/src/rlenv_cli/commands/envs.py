"""``rlenv envs``: the environments that distributions install."""

from __future__ import annotations

import click

from rlenv_cli.console import console, visible

GROUP = "rlenv.environments"


@click.command("envs")
def command() -> None:
    """List the environments of installed distributions (entry-point group rlenv.environments)."""
    from rich.box import SIMPLE
    from rich.table import Table
    from rlenv.plugins.registry import entries

    out = console()
    found = sorted(entries(GROUP), key=lambda entry: (entry.name, entry.distribution))
    if not found:
        out.print("no environment is installed; a path to an env.toml works everywhere a name does")
        return
    names = [entry.name for entry in found]
    table = Table("name", "distribution", "version", "state", box=SIMPLE)
    for entry in found:
        state = "ok" if names.count(entry.name) == 1 else "doubled: uninstall one"
        table.add_row(
            visible(entry.name), visible(entry.distribution), visible(entry.version), state
        )
    out.print(table)
