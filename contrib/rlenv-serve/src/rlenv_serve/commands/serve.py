"""``rlenv serve``."""

from __future__ import annotations

import signal
import socket
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import click
import tomli
from attrs import fields
from rlenv import ConfigError, Environment
from rlenv.authoring import Problems, build
from rlenv_cli.console import visible

from rlenv_serve.catalog import Catalog, Served
from rlenv_serve.commands.processes import Processes, end_with_parent
from rlenv_serve.commands.visible_logs import show_visibly
from rlenv_serve.http.keys import Keys, add_key
from rlenv_serve.http.limits import Limits
from rlenv_serve.http.origin import is_loopback
from rlenv_serve.listening import Connections, raise_file_limit
from rlenv_serve.server import Server
from rlenv_serve.sessions.session import CLOSE
from rlenv_serve.sessions.sessions import LAST
from rlenv_serve.state import URLS, open_journal
from rlenv_serve.state.database import END as DATABASE_END
from rlenv_serve.tracing import LAST as TRACE_LAST
from rlenv_serve.tracing import begin
from rlenv_serve.trajectories.store import TrajectoryStore

if TYPE_CHECKING:
    from starlette.types import ASGIApp

GRACE = 30  # seconds for the requests that run, when the server is asked to end
# Seconds in which a server has ended: what is open is closed behind the grace.
# `stop_grace_period` of compose.yaml is longer.
LONGEST_END = GRACE + LAST + CLOSE + DATABASE_END + TRACE_LAST + 1
MEMORY = (
    "trajectories are kept in the memory of this process, so other servers of this --state do not"
    " see them and they are lost when it ends; add --trajectories sqlite:PATH or"
    " postgresql://USER:PASSWORD@HOST/DATABASE"
)


@click.command("serve")
@click.argument("envs", metavar="[NAME=]ENV...", nargs=-1)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on; other than loopback needs --keys.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8000,
    show_default=True,
    help="0: any that is free.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Processes that serve; more than one need a --state that they can share.",
)
# The socket, in a process that --workers started.
@click.option("--listen-on", type=int, hidden=True)
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=NUMBER",
    help=(
        "What a client may use, as body=16777216 (bytes):"
        f" {', '.join(each.name for each in fields(Limits))}."
    ),
)
@click.option(
    "--keys",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file with the hashes of clients' keys.",
)
@click.option(
    "--new-key",
    metavar="TENANT",
    help="Make a key for this tenant, add its hash to --keys, print it, and end.",
)
@click.option("--answers", is_flag=True, help="The new key may bring tasks with answers.")
@click.option(
    "--operator",
    is_flag=True,
    help=(
        "Without --keys: everyone who reaches the server may read what belongs to the operator, as"
        " the answers of tasks. With --new-key: the new key may."
    ),
)
@click.option("--programs", is_flag=True, help="The new key may run programs in --sandboxes.")
@click.option(
    "--sandboxes",
    metavar="MIN:MAX",
    help=(
        "How many sandboxes run programs, in all processes of the server together: more start while"
        " programs wait, up to MAX, and idle ones end until MIN are left; N is short for N:N. By"
        " default each process has up to 2 of its own, or RLENV_SANDBOX_SLOTS. Clients whose key"
        " has `programs` may use the jail as a remote sandbox, unless there are several --workers."
    ),
)
@click.option(
    "--trajectories",
    metavar="URL",
    help=(
        "Where episodes that have ended, verifiers and baselines are kept: memory:, sqlite:PATH or"
        " postgresql://USER:PASSWORD@HOST/DATABASE; by default beside --state where that is a file,"
        " else in memory."
    ),
)
@click.option(
    "--trace",
    metavar="FILE|otlp",
    help=(
        "Write a trace of each episode and each response of /v1/verify: lines of JSON to FILE, or"
        " otlp, to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names."
    ),
)
@click.option(
    "--state",
    default="memory:",
    show_default=True,
    envvar="RLENV_STATE",
    show_envvar=True,
    metavar="URL",
    help=f"Where episodes are kept: {URLS}.",
)
def command(
    *,
    envs: tuple[str, ...],
    host: str,
    port: int,
    workers: int,
    listen_on: int | None,
    limits: tuple[str, ...],
    keys: Path | None,
    new_key: str | None,
    answers: bool,
    operator: bool,
    programs: bool,
    sandboxes: str | None,
    trajectories: str | None,
    trace: str | None,
    state: str,
) -> None:
    """Serve the environments ENV to trainers and agents over HTTP.

    ENV is a path to an env.toml or the name of an installed environment. NAME is what clients call
    it; by default it is the environment's own name. Whoever reaches the server may use it, unless
    --keys is given; so without keys it listens on loopback only.

    Exit status: 0 when it was asked to end; 1 when the port is taken; 2 for an invalid file or
    argument.

    Example: rlenv serve env.toml --port 8000
    """
    if new_key is not None:
        if keys is None:
            raise click.UsageError("--new-key needs --keys FILE, the file to add its hash to")
        click.echo(add_key(keys, new_key, answers=answers, operator=operator, programs=programs))
        return
    if not envs:
        raise click.UsageError("name an environment to serve, as in: rlenv serve env.toml")
    known = _client_keys(keys, host, operator=operator)
    with ExitStack() as opened:
        quota = _quota() if sandboxes else None
        if quota and listen_on is None:
            opened.enter_context(quota.shared(sandboxes))
        if workers > 1:
            _check_shared(state, trajectories)
            if listen_on is None:
                with _bound(host, port) as bound:
                    raise SystemExit(Processes(bound, workers, LONGEST_END).run())
            end_with_parent()
        catalog = Catalog(_load_served(each, opened) for each in envs)
        journal = open_journal(state)
        kept = TrajectoryStore(trajectories or _default_trajectories(state))
        server = Server(
            catalog, keys=known, limits=_limits(limits), journal=journal, trajectories=kept
        )
        if trace is not None:
            _begin_trace(trace, server, opened)
        if quota:
            server.metrics.show_sandboxes(quota.gauges())
        _warn(state, kept)
        bound = _bound(host, port) if listen_on is None else socket.socket(fileno=listen_on)
        _run(server, _application(server, sandboxes=bool(quota), alone=workers == 1), bound)


def _application(server: Server, *, sandboxes: bool, alone: bool) -> ASGIApp:
    from rlenv_serve.app import application
    from rlenv_serve.routes.sandboxes import routes

    app = application(server)
    if sandboxes:
        app.router.routes[:0] = routes(server, alone=alone)
    return app


def _begin_trace(target: str, server: Server, opened: ExitStack) -> None:
    try:
        opened.callback(begin(target, server.metrics))
    except ImportError:
        raise ConfigError(
            "--trace needs the packages of OpenTelemetry: pip install"
            ' "./contrib/rlenv-serve[opentelemetry]", in a clone'
        ) from None


def _warn(state: str, kept: TrajectoryStore) -> None:
    """Say that trajectories end with the process, where episodes do not."""
    if kept.is_in_memory and state != "memory:":
        click.echo(f"rlenv: warning: {MEMORY}", err=True)


def _client_keys(keys: Path | None, host: str, *, operator: bool) -> Keys:
    """The keys of clients.

    Raises:
        UsageError: for a server that others can reach without keys, and for ``--operator`` with
            keys, of which each says for itself whether it is an operator's.
    """
    if keys is None:
        if not is_loopback(host):
            raise click.UsageError(
                f"--host {host} can be reached from other machines: give --keys FILE; `rlenv serve"
                " --new-key NAME --keys FILE` makes one"
            )
        return Keys(operator=operator)
    if operator:
        raise click.UsageError(
            "--operator is for a server without keys, or for --new-key: with --keys, give the"
            " operator a key; `rlenv serve --new-key NAME --operator --keys FILE` makes one"
        )
    return Keys.from_file(keys)


def _quota() -> ModuleType:
    try:
        return import_module("rlenv_plugin_sandbox.quota")
    except ModuleNotFoundError:
        raise click.UsageError(
            "--sandboxes needs rlenv-plugin-sandbox: `pip install ./plugins/rlenv-plugin-sandbox`"
            " in a clone"
        ) from None


def _limits(given: tuple[str, ...]) -> Limits:
    try:
        table = tomli.loads("\n".join(given))
        problems = Problems()
    except ValueError:
        raise click.UsageError(
            f"--limit {', '.join(given)}: write NAME=NUMBER, as in --limit body=16777216"
        ) from None
    made = build(Limits, table, "--limit", problems)
    problems.check()
    return made


def _load_served(given: str, opened: ExitStack) -> Served:
    """``NAME=ENV`` or ``ENV``, loaded."""
    name, equals, path = given.partition("=")
    if Path(given).is_file():
        equals = ""  # a file with such a name
    env = opened.enter_context(Environment.load(path if equals else given))
    for warning in env.warnings:
        click.echo(f"rlenv: warning: {visible(warning)}", err=True)
    if env.group_only:
        raise ConfigError(
            f"{given}: {', '.join(env.group_only)} judges responses side by side, and a server"
            " judges each alone"
        )
    return Served((name if equals else env.name).lower(), env)


def _default_trajectories(state: str) -> str:
    return f"{state}-trajectories" if state.startswith("sqlite:") else "memory:"


def _check_shared(state: str, trajectories: str | None) -> None:
    """
    Raises:
        UsageError: for a store that is the memory of one process.
    """
    for option, url in (
        ("--state", state),
        ("--trajectories", trajectories or _default_trajectories(state)),
    ):
        if url == "memory:":
            raise click.UsageError(
                f"--workers above 1 needs a store that processes share: add {option} sqlite:PATH"
            )


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens, so that what connects from now on waits until the server is ready."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        limit = raise_file_limit()
        made = socket.create_server((host, port), family=family, backlog=limit.backlog)
    except OSError as error:
        click.echo(
            f"rlenv: cannot listen on {host}:{port}: {error.strerror}; choose another --port or"
            " --host",
            err=True,
        )
        raise SystemExit(1) from None
    click.echo(f"rlenv: serving on http://{host}:{made.getsockname()[1]}", err=True)
    return made


def _run(server: Server, app: ASGIApp, bound: socket.socket) -> None:
    import uvicorn

    from rlenv_serve.listening.config import host_config

    config = host_config(
        app,
        Connections(raise_file_limit().connections),
        log_level="warning",
        timeout_graceful_shutdown=GRACE,
        ws_max_size=server.limits.body,
    )
    show_visibly()
    click.echo(f"rlenv: the environments are {', '.join(server.catalog)}", err=True)
    # Uvicorn raises the signal again when it has ended in order.
    with bound, suppress(KeyboardInterrupt):
        runner = uvicorn.Server(config)
        server.is_ending = lambda: runner.should_exit
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            # Uvicorn ends in order for SIGTERM and SIGINT alone; a terminal that closes sends
            # SIGHUP.
            signal.signal(signal.SIGHUP, runner.handle_exit)
        runner.run(sockets=[bound])
