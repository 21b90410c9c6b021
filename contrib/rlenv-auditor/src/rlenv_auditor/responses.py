"""What probes say: texts in ``responses.toml``, by table."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

__all__ = ["CARRIERS", "TEXTS", "sequence", "table", "written"]

TEXTS: Mapping[str, Any] = tomllib.loads(
    files(__package__).joinpath("responses.toml").read_text("utf-8")
)


def table(name: str) -> Mapping[str, str]:
    """Texts by what they are."""
    return {key: str(text) for key, text in TEXTS[name].items()}


def sequence(name: str) -> Sequence[str]:
    """Texts that need no name."""
    return tuple(map(str, TEXTS[name]))


def written(form: str, text: str) -> str:
    """A form with a text in the place of its first ``{}``."""
    return form.replace("{}", text, 1)


# How an answer is written down, in forms that verifiers of the field read.
CARRIERS = table("carriers")
