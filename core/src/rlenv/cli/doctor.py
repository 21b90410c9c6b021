"""``rlenv doctor``: what this machine can do."""

from __future__ import annotations

import sys

import click

from .text import forgiving, visible


@click.command("doctor")
def command() -> None:
    """Say what this machine can do: Python, plugins, sandboxes, the secret, workers and their
    limits, extras.

    A worker is really started, a stage that never ends is really killed. Exit status 1 when something
    essential fails.
    """
    from .checks import findings

    out = forgiving(sys.stdout)
    failed = 0
    for finding in findings():
        mark = "ok" if finding.ok else "FAILED" if finding.essential else "-"
        print(f"{mark:<7}{finding.what:<17} {visible(finding.said)}", file=out, flush=True)
        failed += finding.essential and not finding.ok
    if failed:
        print("\nrlenv cannot work here until the lines marked FAILED are mended", file=out)
        raise click.exceptions.Exit(1)
