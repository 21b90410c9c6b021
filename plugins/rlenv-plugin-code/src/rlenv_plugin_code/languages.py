"""The languages: one entry each.

A new one is one more entry, and a shim if its functions are to be called.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from functools import cache

from attrs import frozen
from rlenv import ConfigError
from rlenv.authoring import suggest

__all__ = ["LANGUAGES", "Language", "language", "toolchain", "tools"]


@frozen
class Language:
    """How programs of a language are found in a response, compiled and run.

    Args:
        name: how tasks and options call it.
        labels: what a fenced block of it may be labeled, in lower case.
        file: the name of the source in the working directory.
        tool: programs that compile or run it, the first that is found is taken; () where the warm
            interpreter does.
        compile: the command line that makes ``program``, "{tool}" and "{file}" filled in; None
            where nothing is to be compiled.
        check: the command line that checks the syntax of a program that is not compiled.
        run: the command line of a run; () where the warm interpreter runs the source.
        address_space: whether programs bear a limit of their address space.
        functions: whether function tasks can be set in it.
        package: what to install where ``tool`` is missing.
    """

    name: str
    labels: tuple[str, ...]
    file: str
    tool: tuple[str, ...] = ()
    compile: tuple[str, ...] | None = None
    check: tuple[str, ...] | None = None
    run: tuple[str, ...] = ()
    address_space: bool = True
    functions: bool = False
    package: str = ""

    @property
    def warm(self) -> bool:
        """Whether programs run in an interpreter that is warm already."""
        return not self.run

    @property
    def native(self) -> bool:
        """Whether compiling gives an executable."""
        return self.compile is not None

    @property
    def runtime(self) -> str:
        """``Profile.runtime`` of its runs."""
        return "python" if self.warm else "native"

    def compile_argv(self) -> list[str] | None:
        """The command line that compiles ``file`` to ``program`` in the working directory."""
        return None if self.compile is None else self._filled(self.compile)

    def check_argv(self) -> list[str] | None:
        """The command line that ends with 0 when the syntax of ``file`` is sound."""
        return None if self.check is None else self._filled(self.check)

    def run_argv(self) -> list[str]:
        """The command line of a run in a working directory that holds ``file`` or ``program``."""
        return self._filled(self.run)

    def _filled(self, words: tuple[str, ...]) -> list[str]:
        found = tools(self.name)
        return [found if word == "{tool}" else word.replace("{file}", self.file) for word in words]


_OPTIMIZED = ("-O2", "-pipe", "-o", "program", "{file}")
_ENTRIES = (
    Language(
        "python",
        labels=("python", "py", "python3", "py3", "cpython"),
        file="program.py",
        functions=True,
    ),
    Language(
        "c",
        labels=("c", "c99", "c11", "c17", "ansi-c"),
        file="program.c",
        tool=("gcc", "cc", "clang"),
        compile=("{tool}", "-std=gnu17", *_OPTIMIZED, "-lm"),
        run=("./program",),
        package="gcc",
    ),
    Language(
        "cpp",
        labels=("cpp", "c++", "cc", "cxx", "cpp17", "cpp20", "c++17", "c++20"),
        file="program.cpp",
        tool=("g++", "c++", "clang++"),
        compile=("{tool}", "-std=gnu++17", *_OPTIMIZED),
        run=("./program",),
        package="g++",
    ),
    Language(
        "javascript",
        labels=("javascript", "js", "node", "nodejs", "mjs", "cjs", "ecmascript"),
        file="program.js",
        tool=("node", "nodejs"),
        check=("{tool}", "--check", "{file}"),
        run=("{tool}", "{file}"),
        address_space=False,
        functions=True,
        package="nodejs",
    ),
    Language(
        "shell",
        labels=("shell", "bash", "sh"),
        file="program.sh",
        tool=("bash",),
        check=("{tool}", "-n", "{file}"),
        run=("{tool}", "{file}"),
        package="bash",
    ),
)
LANGUAGES: Mapping[str, Language] = {entry.name: entry for entry in _ENTRIES}


def language(name: str) -> Language:
    """The entry of a language.

    Raises:
        ConfigError: there is none; the message suggests the nearest.
    """
    entry = LANGUAGES.get(name)
    if entry is None:
        hint = suggest(name, tuple(LANGUAGES), what="the languages are")
        raise ConfigError(f"language {name!r} is unknown; {hint}")
    return entry


def tools(name: str) -> str:
    """The absolute path of the program that compiles or runs a language, "" where none is needed.

    Raises:
        ConfigError: unknown language, or its tool is not installed.
    """
    entry = language(name)
    return _find(entry, os.environ.get("PATH", os.defpath)) if entry.tool else ""


@cache
def _find(entry: Language, path: str) -> str:
    for tool in entry.tool:
        found = shutil.which(tool, path=path)
        if found is not None:
            return found
    wanted = " or ".join(entry.tool)
    raise ConfigError(
        f"language {entry.name!r} needs {wanted}, and none is on PATH; "
        f"install it (Debian: apt install {entry.package}), or leave out the tasks of this language"
    )


def toolchain(name: str) -> str:
    """Names the compiler and its options, for keys of caches: another compiler, another text.

    Raises:
        ConfigError: as ``tools``.
    """
    entry = language(name)
    tool = tools(name)
    if not tool:
        return entry.name
    state = os.stat(tool)
    words = " ".join(entry.compile or entry.run)
    return f"{entry.name} {tool} {state.st_size} {state.st_mtime_ns} {words}"
