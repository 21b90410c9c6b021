"""The page on the tools of the catalog of the agent plugin."""

from __future__ import annotations

from collections.abc import Iterator

from rlenv_plugin_agent.tools.catalog import ALIASES, CATALOG, RESERVED
from tables import head, row

INTRODUCTION = """An environment names them in `[harness] tools`, as `"calculator"` or
`"agent/calculator"`, beside functions of its own. The policy calls a tool by the name that is
written there, which may be an alias. [Tools](../how-to/tools.md) says what they work with.

`deterministic`: equal arguments in an equal state give equal results. `stateful`: a call depends on
what the episode holds, or changes it; calls of one message then run one after another. `timeout`:
seconds of one call.
"""


def tools() -> Iterator[str]:
    yield "# Tools of the catalog"
    yield INTRODUCTION
    yield from head(
        "tool", "aliases", "category", "deterministic", "stateful", "timeout", "what it does"
    )
    for tool in CATALOG.values():
        aliases = [f"`{alias}`" for alias, name in ALIASES.items() if name == tool.name]
        facts = ("yes" if each else "no" for each in (tool.deterministic, tool.stateful))
        line = tool.description.partition("\n")[0].rstrip(".").replace("``", "`")
        yield row(
            f"`{tool.name}`", ", ".join(aliases), tool.category, *facts, f"{tool.timeout:g}", line
        )
    yield "\n" + "\n".join(f"`{name}`: {why}." for name, why in RESERVED.items())
