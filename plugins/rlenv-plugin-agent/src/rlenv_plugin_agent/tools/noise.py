"""Noise: tools that sometimes fail, as they do in the world."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Literal, TypeAlias, get_args

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe, dumps

from rlenv_plugin_agent.errors import error_in, error_text

from .context import ToolContext
from .keys import Named, canonical, tool_for
from .observations import Observe
from .tool import Tool

Kind: TypeAlias = Literal["error", "timeout", "truncation", "empty", "stale"]
KINDS: tuple[Kind, ...] = get_args(Kind)
HIGHEST = 0.5


@frozen
class Noise:
    """``[config.noise]``: seeded faults of tools, for training.

    A call that fails with ``error`` or ``timeout`` does not run; the others run, and what they
    return is changed.

    Args:
        rate: share of the calls, in [0, 0.5].
        kinds: of faults, each as likely as the others.
        splits: tasks of other splits have no noise.
        wait: a timeout takes the tool's whole time; else no time passes.
    """

    rate: float = 0.05
    kinds: Sequence[Kind] = KINDS
    splits: Safe[Sequence[str]] = ("train",)
    wait: bool = field(default=False)

    def __attrs_post_init__(self) -> None:
        if isinstance(self.rate, bool) or not 0 <= self.rate <= HIGHEST:
            raise ConfigError(f"rate is a number in [0, {HIGHEST}], not {self.rate!r}")
        if not self.kinds or not {*self.kinds} <= {*KINDS}:
            raise ConfigError(f"kinds are some of {', '.join(KINDS)}")


class Noisy:
    """Wraps the calls of a policy, and not those of stages.

    Equal seeds, turns and calls get equal noise.  What it did is in ``ToolContext.marks``, for the
    operator; what the policy sees is as of a tool that failed.

    Args:
        call: runs a call.
        tools: gives those of the episode by name.
        noise: how much and which.
    """

    def __init__(self, call: Observe, tools: Named, noise: Noise) -> None:
        self._call = call
        self._tools = tools
        self._noise = noise
        self._context: ToolContext | None = None
        self._seen = Counter[str]()
        self._earlier: dict[str, str] = {}  # the last clean result of each tool

    async def __call__(self, name: str, arguments: str, context: ToolContext) -> str:
        """Return an observation, with noise or without.

        Args:
            name: of the tool, as the policy wrote it.
            arguments: as the policy wrote them.
            context: one for each episode.
        """
        tool = tool_for(self._tools(), name, arguments)
        if tool is None or context.task.get("split") not in self._noise.splits:
            return await self._call(name, arguments, context)
        kind, drawn = self._draw(tool, arguments, context)
        if kind:
            context.marks.append((tool.name, f"noise/{kind}"))
        if kind == "error":
            return error_text("error", tool.name, "the tool failed with ConnectionError")
        if kind == "timeout":
            await asyncio.sleep(tool.timeout if self._noise.wait else 0)
            late = f"no result within {tool.timeout:g} s"
            return error_text("timeout", tool.name, late, tool.timeout)
        earlier = self._earlier.get(tool.name, "")
        text = self._earlier[tool.name] = await self._call(name, arguments, context)
        if (
            error_in(text) is not None
        ):  # it has failed, and its seconds would decide where it is cut
            return text
        changed = {"truncation": text[: int(len(text) * drawn)], "empty": "", "stale": earlier}
        return changed.get(kind, text)

    def _draw(self, tool: Tool, arguments: str, context: ToolContext) -> tuple[str, float]:
        """Return a kind of noise or "", and a number in [0, 1)."""
        if context is not self._context:
            self._context = context
            self._seen = Counter()
            self._earlier = {}
        task = [context.task.get("id"), context.task.get("prompt"), context.seed, context.role]
        call = dumps([*task, context.turn, tool.name, canonical(arguments)])
        self._seen[call] += 1
        drawn = sha256(f"{self._seen[call]} {call}".encode()).digest()
        first, second, third = (int.from_bytes(drawn[i : i + 8]) / 2**64 for i in (0, 8, 16))
        stale = tool.name in self._earlier
        kinds = [each for each in self._noise.kinds if each != "stale" or stale]
        if first >= self._noise.rate or not kinds:
            return "", 0.0
        return kinds[int(second * len(kinds))], third
