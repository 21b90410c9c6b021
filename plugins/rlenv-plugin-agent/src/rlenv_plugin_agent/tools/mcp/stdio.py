"""A server as a program in a sandbox, which speaks over its standard input and output."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path

from rlenv import VerifierFault
from rlenv.sandbox import ChannelEnded, ChannelError, ChannelTimeout, Session

from rlenv_plugin_agent.errors import EpisodeError

from .errors import MOST, ServerError

BRIDGE = Path(__file__).with_name("bridge.py")
PATIENCE = 4  # times the timeout in wall seconds, for a server that does not read
TOLD = 300  # characters of the server's standard error that the operator is shown


class StdioLink:
    """A program in a session that is leased already.

    Args:
        session: closed with the link.
        timeout: seconds on the program's clock for an answer.
        sealed: whether the session isolates it.
    """

    def __init__(self, session: Session, timeout: float, *, sealed: bool) -> None:
        self.sealed = sealed
        self._session = session
        self._timeout = timeout
        self._broken = self._is_greeted = False

    async def start(
        self, command: Sequence[str], env: Mapping[str, str], files: Mapping[str, bytes]
    ) -> None:
        """Start the server.

        Args:
            command: words of its command line.
            env: variables of its environment.
            files: content by name, in its working directory.

        Raises:
            VerifierFault: the sandbox cannot start it.
        """
        given = {"command": [*command], "env": {**env}, "most": MOST}
        words = [self._python(), "-I", "-S", "-c", BRIDGE.read_text("utf-8")]
        await self._session.start(words, files)
        await self.tell(json.dumps(given).encode())

    def _python(self) -> str:
        """Return the interpreter of the sandbox: on this machine the one that runs us, which
        programs may read there.
        """
        here = self._session.isolation in ("process", "jail")
        return str(getattr(sys, "_base_executable", sys.executable)) if here else "python3"

    async def tell(self, message: bytes) -> None:
        """Send a message that has no answer.

        Raises:
            ServerError: it was not taken.
            TimeoutError: the server does not read.
        """
        if self._broken:
            raise ServerError("it was stopped while it read", lost=True)
        self._broken = True  # until the frame is whole: a canceled one is not
        try:
            async with asyncio.timeout(PATIENCE * self._timeout):
                await self._session.send(message)
        except ChannelEnded:
            raise ServerError(await self._ending(), lost=True, unread=True) from None
        self._broken = False

    async def ask(self, message: bytes) -> AsyncGenerator[bytes, None]:
        """Send a message, and yield what the server sends from then on, b"" for a message of more
        than ``MOST`` bytes.

        Raises:
            ServerError: there is no more.
            TimeoutError: no answer within the time of a call.
            VerifierFault: the sandbox or the machine failed.
        """
        began = self._session.clock()
        await self.tell(message)
        while True:
            left = self._timeout - (self._session.clock() - began)
            try:
                yield await self._session.recv(MOST, max(left, 0.01))
            except ChannelTimeout as error:
                if error.starved:
                    raise EpisodeError(
                        "an MCP server got no processor: the machine is too busy"
                    ) from error
                raise TimeoutError from None
            except ChannelError:
                raise ServerError(await self._ending(), lost=True) from None

    def set_version(self, version: str) -> None:  # noqa: ARG002 - a matter of HTTP
        """From now on a policy may read what is said of the server's end, so its standard error is
        left out.
        """
        self._is_greeted = True

    async def _ending(self) -> str:
        self._broken = True
        end = await self._session.finish(2.0)
        if end.fault is not None:
            raise VerifierFault(end.fault)
        how = f"it has ended ({end.reason}, status {end.status})"
        said = " ".join(end.stderr.decode("utf-8", "replace").split())[-TOLD:]
        return how if self._is_greeted or not said else f"{how}: {said!a}"

    async def close(self) -> None:
        """End the server."""
        self._broken = True
        await self._session.close()
