"""Other distributions of rlenv's repository: imported by name when a command needs one, with a
remedy where it is missing.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, closing, nullcontext
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from rlenv import RowExecutor
from rlenv.model.messages import suggest
from rlenv.plugins.registry import by_name, load_entry

from .console import one_line
from .mistakes import Mistake


def missing(distribution: str) -> str | None:
    """How to install a distribution of the repository, as ``rlenv-plugin-judge``; None where it is
    installed.
    """
    package = distribution.replace("-", "_")
    if find_spec(package) is not None:
        return None
    folder = "plugins" if "-plugin-" in distribution else "contrib"
    return (
        f"{distribution} is not installed: `pip install ./{folder}/{distribution}` in a clone of"
        f" rlenv, or `pip install {package}-*.whl` in the folder that holds its wheel"
    )


def plugin(name: str, module: str) -> Any:
    """The module of a plugin of the repository, as ``plugin("judge", "calibrating.labels")``.

    Raises:
        Mistake: when the plugin is not installed; says how to install it.
    """
    if remedy := missing(f"rlenv-plugin-{name}"):
        raise Mistake(remedy)
    return import_module(f"rlenv_plugin_{name}.{module}")


def executor(where: str | None, *, local: bool) -> AbstractContextManager[RowExecutor | None]:
    """What ``--on NAME...`` means: an entry point of the group ``rlenv.on`` is called with the
    whole text.

    Raises:
        Mistake: when none has this name, or the command has options of this machine (``local``).
    """
    if where is None:
        return nullcontext()
    if local:
        raise Mistake("--on takes neither --group nor --workers: leave them out")
    known = by_name("rlenv.on")
    name = where.partition(":")[0]
    if name not in known:
        hint = suggest(name, known, what="installed are") or missing("rlenv-ray")
        raise Mistake(f"--on {one_line(where, 60)}: nothing of this name is installed; {hint}")
    return closing(load_entry(known[name], f"--on {name}")(where))
