"""SQL that only reads: one SELECT, under every dialect that it may be read as."""

from __future__ import annotations

from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe, suggest

from rlenv_plugin_constraints.blocks import only_block
from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet

__all__ = ["DIALECTS", "SIZE", "SqlReadOnly"]

DIALECTS = ("sqlite", "postgres", "mysql", "tsql")
SIZE = 20_000  # characters
LABELS = ("sql", "sqlite", "sqlite3", "postgres", "postgresql", "psql", "mysql", "tsql", "plsql")


def _known(_: Any, __: Any, value: str) -> None:
    if value != "any" and value not in DIALECTS:
        hint = suggest(value, [*DIALECTS, "any"], what="the dialects are")
        raise ConfigError(f"there is no dialect {value!r}; {hint}")


@frozen
class SqlReadOnly:
    """One statement that reads and does nothing else: SELECT, WITH … SELECT, or EXPLAIN of one.

    What a database's own functions do is not seen; name those that may be called in ``functions``
    where that matters.

    Args:
        dialect: "sqlite", "postgres", "mysql", "tsql"; "any" rejects what writes under one of them.
        functions: the only functions that may be called; () allows all but those known to have
            effects.
        prose: whether text may be around the fenced block.
    """

    kind: ClassVar[str] = "sql_read_only"
    is_answer: ClassVar[bool] = True
    dialect: Safe[str] = field(default="any", validator=_known)
    functions: Safe[tuple[str, ...]] = ()
    prose: bool = False

    def __attrs_post_init__(self) -> None:
        # sqlglot takes half a second to import, which environments without SQL do not pay.
        from rlenv_plugin_constraints.sql_reader import check_installed

        check_installed()

    def check(self, text: Text) -> Finding:
        from rlenv_plugin_constraints.sql_reader import Unreadable
        from rlenv_plugin_constraints.sql_rules import check_query

        wanted = "one SELECT"
        block = only_block(text.raw, LABELS, prose=self.prose)
        if isinstance(block, str):
            return unmet(None, wanted, note=block)
        if len(block.text) > SIZE:
            note = f"undecided: longer than {SIZE:,} characters"
            return unmet(None, wanted, note=note)
        dialects = DIALECTS if self.dialect == "any" else (self.dialect,)
        first = " ".join(block.text[:200].split()[:1])[:20].upper()
        try:
            check_query(block.text, dialects, frozenset(map(str.upper, self.functions)))
        except Unreadable as err:
            at = block.start + err.place
            return unmet(first or None, wanted, [(at, min(at + 1, len(text.raw)))], str(err))
        whole = (block.start, block.end)
        return Finding(satisfied=True, measured=first, wanted=wanted, spans=[whole])
