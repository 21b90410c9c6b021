"""Tools whose calls are recorded, and logs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from rlenv import Task
from rlenv_plugin_agent import tool
from rlenv_plugin_agent.recording import CallLog, RecordedCalls
from rlenv_plugin_agent.tools.calling import observe
from rlenv_plugin_agent.tools.tool import Tool

TASK = Task("Find it.", answer="done", id="t1")


class World:
    """Tools that count how often they ran."""

    def __init__(self) -> None:
        self.runs = 0
        made = [
            tool(stateful=False)(self.search),
            tool(stateful=True)(self.browse),
            tool(deterministic=True)(self.add),
        ]
        self.tools: dict[str, Tool] = {each.name: each for each in made}

    def search(self, query: object) -> str:
        """Search the web."""
        self.runs += 1
        return f"{query!r}: result {self.runs}"

    def browse(self, link: str) -> str:
        """Follow a link."""
        self.runs += 1
        return f"page {self.runs}"

    def add(self, a: int, b: int) -> int:
        """Add."""
        self.runs += 1
        return a + b

    def wrapped(self, log: CallLog, mode: str) -> RecordedCalls:
        return RecordedCalls(partial(observe, self.tools), lambda: self.tools, log, mode)  # type: ignore[arg-type] # of modes


def recorded(path: Path, rows: int = 300) -> None:
    log = CallLog(path, writes=True)
    for i in range(rows):
        log.put(f"{i:05}", "search", f"text {i} " * 20, replace=False)
    log.close()
