"""``python -m rlenv_plugin_sandbox.remote``, which is ``rlenv sandbox`` too: serve a sandbox of
this machine.
"""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
import sys
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from collections.abc import Sequence

from rlenv import ConfigError, RlenvError
from rlenv.sandbox import get

from .keys import add_key, read_keys
from .server import Server
from .session import Limits

__all__ = ["main"]


def main(words: Sequence[str] | None = None, program: str = "rlenv sandbox") -> None:
    """Serve until SIGINT or SIGTERM; a mistake is one line on standard error and status 2.

    Args:
        words: the arguments; None: those of this process.
        program: what the help calls the command.
    """
    options = _parser(program).parse_args(words)
    names = ("sessions", "memory_mb", "wall_s", "programs")
    limits = Limits(paths=tuple(options.allow), **{name: getattr(options, name) for name in names})
    try:
        context = None if options.tls_cert is None else _context(options.tls_cert, options.tls_key)
        token = os.environ.pop("RLENV_SANDBOX_TOKEN", "")
        sandbox = options.sandbox
        if options.new_key is not None:
            print(add_key(options.keys or "keys.toml", options.new_key))
            return
        keys = read_keys(options.keys) if options.keys else ()
        server = Server(
            get(sandbox),
            sandbox,
            token,
            keys,
            limits=limits,
            context=context,
            plain_http=options.plain_http,
        )
        asyncio.run(_serve(server, options.listen, "https" if context else "http", sandbox))
    except RlenvError as error:
        print(f"rlenv: error: {error}", file=sys.stderr)
        sys.exit(2)


def _parser(program: str) -> ArgumentParser:
    parser = ArgumentParser(
        prog=program,
        description=(
            "Serve a sandbox of this machine over HTTP to those who have the token in"
            " RLENV_SANDBOX_TOKEN, or a key."
        ),
        formatter_class=ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--listen", default="127.0.0.1:8765", help="address and port; port 0 takes a free one")
    add("--sandbox", default="jail", help="which one to serve")
    add("--tls-cert", help="file of this server's certificate, for https://")
    add("--tls-key", help="file of its key")
    add("--keys", metavar="FILE", help="the keys of several tenants, as hashes")
    add("--new-key", metavar="TENANT", help="add a key to the file, print it, and end")
    add(
        "--plain-http",
        action="store_true",
        help="let other machines connect without TLS, where a proxy or the network encrypts",
    )
    add("--sessions", type=int, default=64, help="of one tenant, open at one time")
    add(
        "--programs",
        type=int,
        default=0,
        help="of one of several tenants at one time; 0: one fewer than run",
    )
    add("--memory-mb", type=int, default=8192, help="that a program may ask for")
    add("--wall-s", type=float, default=3600.0, help="that a program may ask for")
    add(
        "--allow",
        action="append",
        default=[],
        metavar="PATH",
        help=(
            "a folder, device or interpreter of this machine that programs may ask for; may be"
            " given again"
        ),
    )
    return parser


def _context(cert: str, key: str | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(cert, key)
    except OSError as error:
        raise ConfigError(f"--tls-cert {cert}: {error}") from error
    return context


async def _serve(server: Server, listen: str, scheme: str, sandbox: str) -> None:
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise ConfigError(
            f"--listen {listen!r}: an address and a port are expected, as 127.0.0.1:8765"
        )
    try:
        sock = await server.listen(host.strip("[]"), int(port))
    except (OSError, ValueError) as error:
        raise ConfigError(f"--listen {listen}: {error}") from error
    serving = asyncio.create_task(server.serve(sock))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.cancel)
    print(f"listening on {scheme}://{host}:{sock.getsockname()[1]}", flush=True)
    try:
        await serving
    except asyncio.CancelledError:
        await get(sandbox).aclose()
