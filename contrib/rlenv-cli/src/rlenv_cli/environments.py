"""The arguments that commands share: which environment, and options set from the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .console import one_line, visible
from .mistakes import Mistake

if TYPE_CHECKING:
    from rlenv.environment import Environment

F = TypeVar("F", bound=Callable[..., Any])


def set_option(function: F) -> F:
    """Add ``--set STAGE.OPTION=VALUE``."""
    return click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="STAGE.OPTION=VALUE",
        help="Set an option of a stage. The value is TOML, or else a string. May be repeated.",
    )(function)


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """``["core/equal.case=true"]`` as ``{"core/equal.case": True}``; what is no TOML value is a
    text.

    Raises:
        Mistake: for one without a dot or an equals sign.
    """
    found: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        stage, dot, option = name.strip().rpartition(".")
        if not equals or not dot or not stage or not option:
            raise Mistake(
                f"--set {one_line(setting, 60)}: write STAGE.OPTION=VALUE, as in "
                "--set core/equal.case=false; `rlenv stages NAME` lists the options of a stage"
            )
        found[name.strip()] = parse_value(value.strip())
    return found


def parse_value(text: str) -> Any:
    """A text as the TOML value that it spells (``3``, ``true``, ``[1, 2]``), else the text
    itself.
    """
    from tomli import loads

    try:
        (value,) = loads(f"value = {text}").values()
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, (bool, int, float, str, list, dict)) else text


def load(
    name: str, settings: Sequence[str], *, isolate: bool = False, quiet: bool = False
) -> Environment:
    """The environment of this file or installed name; its warnings go to standard error.

    Args:
        quiet: do not say that loading takes long.

    Raises:
        RlenvError: when there is none, or it has mistakes.
    """
    from rlenv.environment import Environment

    from .scoring.progress import waiting

    options = parse_settings(settings)
    with waiting(f"loading {one_line(name, 60)}", quiet=quiet):
        loaded = Environment.load(name, set_options=options, isolate=isolate)
    for warning in loaded.warnings:
        print(f"rlenv: warning: {visible(warning)}", file=sys.stderr)
    return loaded
