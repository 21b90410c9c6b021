"""``rlenv doctor``: report machine capabilities."""

from __future__ import annotations

import sys

import click
from rlenv.model.messages import suggest

from rlenv_cli.console import forgiving, visible
from rlenv_cli.mistakes import Mistake

SANDBOX = (
    "sandbox"  # the port, and the plugin that a sandbox without a plugin's name is looked up in
)


@click.command("doctor")
@click.argument("plugins", metavar="[PLUGIN]...", nargs=-1)
def command(*, plugins: tuple[str, ...]) -> None:
    """Report machine capabilities: Python, what is installed and from where, sandboxes, the secret,
    workers and their limits, extras.

    The command starts a worker, and kills an endless stage, to test both. It reports the sandboxes
    of the plugin `sandbox`, or of each PLUGIN, and loads no other plugin. Exit status 1 if
    something essential fails.
    """
    from rlenv.plugins.registry import installed

    from rlenv_cli.machine.checks import findings

    known = installed()
    for name in plugins:
        if name not in known:
            raise Mistake(f"no plugin '{visible(name)}' is installed; {suggest(name, known)}")
    asked = plugins or tuple(name for name in (SANDBOX,) if name in known)
    out = forgiving(sys.stdout)
    failed = 0
    for finding in findings(asked):
        mark = "FAILED" if finding.essential else "-"
        if finding.ok:
            mark = "ok"
        print(f"{mark:<7}{finding.what:<19} {visible(finding.said)}", file=out, flush=True)
        failed += finding.essential and not finding.ok
    if failed:
        print("\nrlenv cannot work here until the lines marked FAILED are mended", file=out)
        raise click.exceptions.Exit(1)
