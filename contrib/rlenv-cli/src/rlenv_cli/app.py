"""The command ``rlenv`` itself: finds its subcommands without importing them."""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from importlib.metadata import metadata
from typing import TYPE_CHECKING, Any

import click
from rlenv.model.messages import suggest
from rlenv.plugins.entry_points import PluginInfo
from rlenv.plugins.registry import entries, version

from .console import forgiving, one_line, reopen_closed_streams
from .mistakes import Mistake, one_screen
from .needed import missing
from .signals import Stopped, stoppable

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

GROUP = "rlenv.commands"
DISTRIBUTION = "rlenv-cli"
OWN = {
    "score": "Score a file of responses.",
    "verify": "Explain the reward of one response, stage by stage.",
    "report": "Write an HTML report of a score file, or compare two.",
    "show": "Show the parts of an environment.",
    "plugins": "List installed plugins and their errors.",
    "stages": "List stages, or show the options of one.",
    "envs": "List installed environments.",
    "doctor": "Report machine capabilities.",
    "new": "Scaffold a plugin or an environment.",
    "judge": "Compare a judge with human labels (rlenv-plugin-judge).",
    "sandbox": "Serve a sandbox of this machine (rlenv-plugin-sandbox).",
    "rollout": "Let a policy play, and score it (rlenv-plugin-agent).",
    "play": "Play a task yourself, in the policy's place (rlenv-plugin-agent).",
}  # said without importing them; a test compares the names with the entry points
ELSEWHERE = {
    "check": "rlenv-testing",
    "audit": "rlenv-auditor",
    "export": "rlenv-train",
    "select": "rlenv-train",
    "serve": "rlenv-serve",
    "trajectories": "rlenv-serve",
}
# Of a distribution with several commands, whose summary is none of them.
SHARED = {
    "export": "Write training data from a score file",
    "select": "Select the best response to each task",
    "serve": "Serve environments to trainers and agents over HTTP",
    "trajectories": "Ask about the episodes that a server has kept",
}
EXAMPLE = "Example:\n\n  rlenv score env.toml responses.jsonl -o scores.jsonl"


class LazyGroup(click.Group):
    """Imports a subcommand when it is called; a broken one harms nobody else."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        if None in (sys.stdin, sys.stdout, sys.stderr):
            reopen_closed_streams()
        return super().main(*args, **kwargs)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_found())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        claims = _found().get(cmd_name)
        return None if claims is None else _load(cmd_name, claims)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in names:
            if args[0] in ELSEWHERE and (remedy := missing(ELSEWHERE[args[0]])):
                raise Mistake(remedy)
            raise Mistake(f"no command '{one_line(args[0], 40)}'; {suggest(args[0], names)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, _said(name, claims)) for name, claims in _found().items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names from metadata, where click would import every command."""
        from click.shell_completion import CompletionItem

        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        return [*map(CompletionItem, names), *click.Command.shell_complete(self, ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with stoppable(), one_screen():
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            print("\nrlenv: interrupted", file=sys.stderr)
            ctx.exit(128 + (error.number if isinstance(error, Stopped) else signal.SIGINT))


def _found() -> dict[str, list[PluginInfo]]:
    """Who claims each command; those of this distribution come first, and no other may claim
    them.
    """
    found: dict[str, list[PluginInfo]] = {}
    for entry in sorted(entries(GROUP), key=lambda entry: entry.name):
        if entry.name not in OWN or entry.distribution == DISTRIBUTION:
            found.setdefault(entry.name, []).append(entry)
    return {name: found[name] for name in dict.fromkeys((*OWN, *found)) if name in found}


def _said(name: str, claims: list[PluginInfo]) -> str:
    """A line of help, without importing the command: a distribution says in its metadata what it is
    for.
    """
    if name in OWN:
        return OWN[name]
    owners = " and ".join(claim.distribution for claim in claims)
    summary = SHARED.get(name, "") if owners == ELSEWHERE.get(name) else ""
    with suppress(Exception):  # broken metadata of a stranger
        summary = summary or metadata(claims[0].distribution)["Summary"] or ""
    return one_line(f"(from {owners}) {summary}", 120)


def _load(name: str, claims: list[PluginInfo]) -> click.Command:
    from rlenv.plugins.registry import resolve

    owners = " and ".join(sorted(f"{claim.distribution} {claim.version}" for claim in claims))
    if len(claims) > 1:
        return _broken(name, f"{owners} both provide it, so neither is used; uninstall one of them")
    try:
        command = resolve(claims[0].target)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - an import may even call sys.exit
        why = one_line(f"{type(error).__name__}: {error}", 300)
        return _broken(name, f"{owners} does not load: {why}; update or uninstall it")
    if not isinstance(command, click.Command):
        return _broken(name, f"{owners}: {claims[0].target} is not a click command")
    return command


def _broken(name: str, why: str) -> click.Command:
    def fail(**_: Any) -> None:
        raise Mistake(f"rlenv {name}: {why}")

    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(
        name,
        context_settings=settings,
        params=[click.Argument(["args"], nargs=-1, expose_value=False)],
        callback=fail,
        help=f"(broken: {why})",
        short_help=f"(broken: {why})",
        add_help_option=False,
    )


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001
    if value and not ctx.resilient_parsing:
        click.echo(f"rlenv {version('rlenv-core')}")
        ctx.exit()


@click.group(cls=LazyGroup, invoke_without_command=True, epilog=EXAMPLE)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Score responses of language models with verifiers.

    Use `rlenv COMMAND --help` for the options of a command.
    """
    forgiving(sys.stdout)
    forgiving(sys.stderr)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    """Run the command line and exit with its status: the entry point ``main`` of group
    ``rlenv.cli``.
    """
    cli(prog_name="rlenv")
