"""A reader of the tables of an env.toml, which collects their mistakes itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from attrs import evolve, frozen

from rlenv.model.errors import RlenvError

from .fit import build, construct
from .problems import Problems, at

T = TypeVar("T")


@frozen
class Reader:
    """One place in the tables, and what takes the mistakes that are found there.

    >>> problems = Problems()
    >>> stage = Reader({"stage": [{"use": "core/equal"}]}, "", problems).tables("stage")[0]
    >>> stage.get("use", str)
    'core/equal'
    >>> stage.at("weight").add("required, and missing")
    >>> problems.lines()
    ['stage[0].weight: required, and missing']

    Args:
        value: what is written there; None where nothing is.
        path: where that is, as ``stage[0].options``; "" for all tables.
        problems: what takes the mistakes.
    """

    value: Any
    path: str
    problems: Problems

    def at(self, key: object) -> Reader:
        """Return the reader of a key, also of one that the table does not have."""
        value = self.value.get(key) if isinstance(self.value, Mapping) else None
        return Reader(value, at(self.path, str(key)), self.problems)

    def item(self, number: int) -> Reader:
        """Return the reader of an item of a list."""
        return Reader(self.value[number], f"{self.path}[{number}]", self.problems)

    def tables(self, key: str) -> list[Reader]:
        """Return the readers of a list of tables; a single table counts as a list of one."""
        found = self.at(key)
        if isinstance(found.value, Mapping):
            found = found.holding([found.value])
        count = len(found.value) if isinstance(found.value, (list, tuple)) else 0
        return [found.item(number) for number in range(count)]

    def get(self, key: str, kind: Any, default: object = None) -> Any:
        """Return a value of the right type, else None; ``build`` notes one of a wrong type."""
        found = self.value.get(key, default) if isinstance(self.value, Mapping) else None
        return found if isinstance(found, kind) else None

    def only(self, keys: Collection[str]) -> Reader:
        """Return the reader of the same table without other keys."""
        return self.holding({key: self.value[key] for key in keys & self.value.keys()})

    def holding(self, value: object) -> Reader:
        """Return the reader of this place with another value."""
        return evolve(self, value=value)

    def add(self, text: str) -> None:
        """Note a mistake here."""
        self.problems.add(self.path, text)

    def error(self, error: RlenvError) -> None:
        """Note every mistake that an error lists."""
        self.problems.error(self.path, error)

    def build(self, cls: Callable[..., T], **given: object) -> T:
        """Make an object of this table, or note every mistake and return BAD; see ``fit.build``."""
        return build(cls, self.value, self.path, self.problems, **given)

    def construct(self, make: Callable[..., T], options: dict[str, object]) -> T:
        """Call ``make`` with options, or note what it rejects and return BAD."""
        return construct(make, options, self.path, self.problems)
