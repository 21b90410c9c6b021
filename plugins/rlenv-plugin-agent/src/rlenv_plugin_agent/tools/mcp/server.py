"""``[[mcp.server]]``: one server whose tools a policy may call."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import File, Safe, Unsafe

PIN = re.compile(r"(sha256:[0-9a-f]{64})?")


@frozen
class McpServer:
    """``[[mcp.server]]``: one server, as a program or over HTTP.

    Args:
        name: for messages.
        command: starts it; ``python`` is the interpreter of the sandbox.
        url: of its endpoint for streamable HTTP, instead of a command; its host is one of
            ``hosts``.
        pin: the hash of its listing; an error says what to write here.
        tools: the names of those that are offered; all when empty.
        prefix: put before the name of each, so that two servers may have a tool of one name.
        timeout: seconds for one call, in (0, 3600].
        files: what a command finds in its working directory, by content.
        paths: absolute folders that a command may read and execute from.
        env: its environment, besides PATH, HOME and LANG.
        sandbox: what isolates a command.
        memory_mb: MiB for a command.
        cpu_s: seconds of CPU for a command in one episode.
        trust: run the command with the rights, the network and the environment of this process.
        token_env: the variable of this process that holds the token for a url.
    """

    name: Safe[str]
    command: Unsafe[Sequence[str]] = field(default=())
    url: Unsafe[str] = field(default="")
    pin: Safe[str] = ""
    tools: Safe[Sequence[str]] = ()
    prefix: Safe[str] = ""
    timeout: float = 30.0
    files: Sequence[File] = ()
    paths: Unsafe[Sequence[str]] = field(default=())
    env: Unsafe[Mapping[str, str]] = field(factory=dict)
    sandbox: Unsafe[str] = "jail"
    memory_mb: int = 512
    cpu_s: float = 60.0
    trust: Unsafe[bool] = field(default=False)
    token_env: Unsafe[str] = field(default="")
    contents: Mapping[str, bytes] = field(init=False)  # its text is part of the fingerprint

    @contents.default
    def _contents(self) -> dict[str, bytes]:
        paths = [File(each).path for each in self.files]
        try:
            return {path.name: path.read_bytes() for path in paths}
        except OSError as error:
            raise ConfigError(f"files: {error}") from error

    def __attrs_post_init__(self) -> None:
        if bool(self.command) == bool(self.url):
            raise ConfigError(f"server {self.name!r}: give it a command or a url, and not both")
        if not PIN.fullmatch(self.pin):
            raise ConfigError(
                f"pin: {self.pin!r} is not sha256: and 64 digits; leave it out, and the error of"
                " the first rollout says what to write"
            )
        if not 0 < self.timeout <= 3600:
            raise ConfigError(f"timeout: {self.timeout!r} is not in (0, 3600]")
        if len(self.contents) < len(self.files):
            raise ConfigError("files: two have one name")

    @property
    def token(self) -> str:
        """Return the token for its url.

        Raises:
            ConfigError: the variable is not set.
        """
        if self.token_env and not os.environ.get(self.token_env):
            raise ConfigError(
                f"MCP server {self.name}: the environment variable {self.token_env} is not set"
            )
        return os.environ.get(self.token_env, "")
