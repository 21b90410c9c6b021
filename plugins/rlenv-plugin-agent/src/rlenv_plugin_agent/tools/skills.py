"""``[skills]``: folders of instructions that a policy may read when it needs them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from attrs import evolve, field, frozen
from rlenv import ConfigError
from rlenv.authoring import File, suggest

from rlenv_plugin_agent.errors import ToolError

from .tool import Tool, tool

ENTRIES = ("SKILL.md", "AGENTS.md")  # what a skill begins with, the first that is there
# of one skill
FILES = 200
BYTES = 4 << 20
FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
LINE = re.compile(r"^([\w-]+):[ \t]*([>|][+-]?$)?(.*(?:\n[ \t]+.*)*)", re.MULTILINE)


@frozen
class Skill:
    """A folder of instructions, as it was when the environment was loaded.

    Args:
        name: what the policy calls it.
        description: when to use it.
        entry: the path of the instructions.
        files: the text of every file by its path in the folder.
    """

    name: str
    description: str
    entry: str
    files: Mapping[str, str]

    def read(self, path: str) -> str:
        """Return the text of a file; of the entry, with the names of the other files.

        Raises:
            ToolError: there is no such file.
        """
        wanted = path or self.entry
        if wanted not in self.files:
            hint = suggest(wanted[:200], self.files, what="its files are")
            raise ToolError(f"skill {self.name} has no such file; {hint}")
        others = [each for each in self.files if each != self.entry]
        told = f"\n\nFiles: {', '.join(others)}" if not path and others else ""
        return self.files[wanted] + told


@frozen
class Skills:
    """``[skills]``: what the tool ``skill`` gives to a policy.

    The folders are read once, when the environment is loaded; what happens to them later changes
    nothing.

    Args:
        folders: each holds a ``SKILL.md`` with ``name`` and ``description`` between two lines of
            ``---``, or an ``AGENTS.md``.
    """

    folders: Sequence[File]
    skills: Mapping[str, Skill] = field(init=False)  # its text is part of the fingerprint

    @skills.default
    def _skills(self) -> dict[str, Skill]:
        found = {(skill := load_skill(File(each).path)).name: skill for each in self.folders}
        if len(found) < len(self.folders):
            raise ConfigError("folders: two skills have one name")
        return found

    async def open_tools(self, _: AsyncExitStack) -> Sequence[Tool]:
        """Open the tool ``skill``; see ``open_tools`` of ``tools.tool``."""
        return [skill_tool(self.skills)]

    def show(self) -> str:
        """Describe the table for ``rlenv show``."""
        return "\n".join(f"{each.name}: {each.description}" for each in self.skills.values())


def skill_tool(skills: Mapping[str, Skill]) -> Tool:
    """Make the tool that reads these skills; its description lists them."""

    def skill(name: str, file: str = "") -> str:
        """Read a skill.

        Args:
            name: of the skill.
            file: the path of one of its files; its instructions when empty.
        """
        if name not in skills:
            raise ToolError(
                f"there is no such skill; {suggest(name[:64], skills, what='skills are')}"
            )
        return skills[name].read(file)

    listed = "\n".join(f"- {each.name}: {each.description}" for each in skills.values())
    made = tool(name="skill", category="skill", deterministic=True)(skill)
    return evolve(
        made, description=f"Read the instructions of a skill, or a file of it. Skills:\n{listed}"
    )


def load_skill(folder: Path) -> Skill:
    """Read a folder.

    Raises:
        ConfigError: it has no instructions, is too large, or a link in it leads out of it.
    """
    contents = dict(sorted(_contents(folder)))
    if len(contents) > FILES or sum(map(len, contents.values())) > BYTES:
        raise ConfigError(f"skill {folder.name}: it has more than {FILES} files or {BYTES:,} bytes")
    files = {path: content.decode("utf-8", "replace") for path, content in contents.items()}
    entry = next((each for each in ENTRIES if files.get(each)), None)
    if entry is None:
        raise ConfigError(f"skill {folder.name}: it has no {' or '.join(ENTRIES)}")
    name, description = _describe(files[entry], folder.name)
    return Skill(name, description, entry, files)


def _contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of each file; links to files inside are files, links to folders are
    left out.
    """
    root = folder.resolve()
    for top, folders, names in os.walk(root):
        for name in [*folders, *names]:
            path = Path(top, name)
            if not path.resolve().is_relative_to(root):
                raise ConfigError(f"skill {folder.name}: {path.relative_to(root)} leads out of it")
        for name in names:
            path = Path(top, name)
            if path.is_file() and path.stat().st_size <= BYTES:
                yield path.relative_to(root).as_posix(), path.read_bytes()
            else:
                raise ConfigError(
                    f"skill {folder.name}: {path.relative_to(root)} is not a file of at most"
                    f" {BYTES:,} bytes"
                )


def _describe(text: str, folder: str) -> tuple[str, str]:
    """Return name and description: of the lines between ``---``, else the folder's name and the
    first line of text.
    """
    front = FRONT.match(text)
    found = (
        {key: " ".join(value.split()).strip("\"'") for key, _, value in LINE.findall(front[1])}
        if front
        else {}
    )
    lines = [line.strip("# ") for line in text[front.end() if front else 0 :].splitlines()]
    first = next(filter(None, lines), "")
    return found.get("name") or folder, (found.get("description") or first)[:1000]
