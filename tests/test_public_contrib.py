"""What distributions of contrib promise: every name is documented."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

PUBLIC = ("rlenv_testing", "rlenv_cli.console", "rlenv_cli.scores", "rlenv_cli.tickets")


def things(module: str) -> Iterator[tuple[str, Any]]:
    """Public classes and functions, and the public methods of classes."""
    for name in import_module(module).__all__:
        thing = getattr(import_module(module), name)
        if inspect.isclass(thing):
            yield name, thing
            for method, member in vars(thing).items():
                function = getattr(member, "fget", getattr(member, "__func__", member))
                if inspect.isfunction(function) and not method.startswith("_"):
                    yield f"{name}.{method}", function
        elif inspect.isroutine(thing):
            yield name, thing


@pytest.mark.parametrize("module", PUBLIC)
def test_what_is_public_has_a_docstring(module: str) -> None:
    bare = [name for name, thing in things(module) if "." not in name and not thing.__doc__]

    assert bare == []
