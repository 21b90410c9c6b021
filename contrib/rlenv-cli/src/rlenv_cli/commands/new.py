"""``rlenv new``: scaffold a plugin or an environment."""

from __future__ import annotations

from pathlib import Path

import click
from rlenv.plugins.registry import GROUP, entries

from rlenv_cli.console import one_line, visible
from rlenv_cli.mistakes import Mistake
from rlenv_cli.needed import missing
from rlenv_cli.scaffold import LICENSES, Scaffold, make, short_name

from .envs import GROUP as ENVIRONMENTS

OWN = frozenset(  # plugins of rlenv's own repository, installed or not
    (
        "agent",
        "audit",
        "code",
        "constraints",
        "cuda",
        "judge",
        "math",
        "repo",
        "sandbox",
        "tasks",
        "web",
    )
)
_NEXT = {
    "plugin": "  cd {folder}\n  pip install -e '.[test]'\n  rlenv check {name}\n",
    "env": (
        "  cd {folder}\n  pip install -e .\n  rlenv envs\n  rlenv score {name} responses.jsonl -o"
        " scores.jsonl\n"
    ),
}


@click.command()
@click.argument("kind", type=click.Choice(["plugin", "env"]))
@click.argument("name")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="The parent folder; the current one by default.",
)
@click.option(
    "--license",
    "terms",
    type=click.Choice(list(LICENSES)),
    default="mit",
    show_default=True,
    help="The license of the new distribution.",
)
@click.option("--author", default="The authors", help="The name in the license.")
def command(kind: str, name: str, into: Path, terms: str, author: str) -> None:
    """Scaffold a distribution: a plugin with one stage, or an environment with tasks.

    \b
    rlenv new plugin my-checks     makes rlenv-plugin-my-checks/
    rlenv new env my-tasks         makes rlenv-env-my-tasks/
    """
    short = short_name(kind, name)
    _refuse_taken(kind, short)
    folder = make(Scaffold(kind, short, terms, one_line(author, 80)), into)
    click.echo(f"made {folder}/\n\nNext:\n" + _NEXT[kind].format(folder=folder, name=short))
    if kind == "plugin" and (remedy := missing("rlenv-testing")):
        click.echo(f"rlenv check and the tests need rlenv-testing first. {remedy}")


def _refuse_taken(kind: str, name: str) -> None:
    """Where two distributions claim one name, neither can be used."""
    group = GROUP if kind == "plugin" else ENVIRONMENTS
    found = next((info for info in entries(group) if info.name == name), None)
    if found is not None:
        who = f"{visible(found.distribution)} {visible(found.version)}, which is installed"
    elif kind == "plugin" and name in OWN:
        who = f"rlenv-plugin-{name} of rlenv's own repository"
    else:
        return
    what = "plugins" if kind == "plugin" else "environments"
    raise Mistake(
        f"the name '{name}' is taken by {who}: two {what} of one name are both unusable, so choose"
        " another"
    )
