"""The catalog by name."""

from __future__ import annotations

from attrs import evolve
from rlenv import ConfigError
from rlenv.authoring import suggest

from rlenv_plugin_agent.tools.tool import Tool

from .asking import ask_user
from .calculator import calculator
from .code import python_interpreter, run_tests, shell
from .database import sqlite
from .files import edit, edit_file, file_read, file_write, list_files
from .planning import section_write, todo
from .retrieval import scholar_search, visit, web_scrape, web_search

CATALOG: dict[str, Tool] = {
    each.name: each
    for each in (
        web_search,
        scholar_search,
        visit,
        web_scrape,
        python_interpreter,
        shell,
        run_tests,
        file_read,
        file_write,
        edit_file,
        edit,
        list_files,
        todo,
        section_write,
        ask_user,
        calculator,
        sqlite,
    )
}
ALIASES = {
    "search_web": "web_search", "jina_reader": "visit", "sandbox": "python_interpreter",
    "bash": "shell", "read_file": "file_read", "read": "file_read", "write": "file_write",
}  # fmt: skip
NAMES = tuple(f"{prefix}{name}" for prefix in ("", "agent/") for name in (*CATALOG, *ALIASES))
RESERVED = {"browser": "no tool has this name yet; visit and web_scrape read pages of a corpus"}


def find(name: str) -> Tool:
    """Return a tool of the catalog, called as the policy will call it.

    Args:
        name: or an alias of it, with or without ``agent/`` before it.

    Raises:
        ConfigError: the catalog lacks it; with the nearest name.
    """
    short = name.removeprefix("agent/")
    if short in RESERVED:
        raise ConfigError(f"tool {name}: {RESERVED[short]}")
    found = CATALOG.get(ALIASES.get(short, short))
    if found is None:
        hint = suggest(short, [*CATALOG, *ALIASES], what="the tools are")
        raise ConfigError(
            f"there is no tool {name!r:.80}; {hint} A function of yours is written as module:name"
        )
    return found if found.name == short else evolve(found, name=short)
