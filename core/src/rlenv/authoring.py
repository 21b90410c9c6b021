"""What plugins need besides ``rlenv`` and its ``hooks``, ``text``, ``sandbox`` and ``workers``.

To read a table of options: ``problems = Problems()``, then ``made = build(Rubric, table, "rubric",
problems)``, which notes every mistake with its path, then ``problems.check()``, which raises them
together. ``label: Safe[str]`` marks an option that a stranger's env.toml may set (``code=False``),
since it reaches nothing outside; numbers, true and false and literals may be set without a mark,
unless they are ``Unsafe``. ``FAULT_KINDS`` are the kinds that a ``Fault`` may have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .near import suggest
from .values import FAULT_KINDS

if TYPE_CHECKING:
    from .config.files import File
    from .config.fit import build
    from .config.marks import Safe, Unsafe
    from .config.problems import Problems, code_allowed
    from .config.tables import StageTables
    from .fingerprint import code_of
    from .pickling import pickled
    from .plugins import part, resolve
    from .record import dumps, plain
    from .references import FileFunction
    from .rows import read_rows
    from .secret import key_id, secret
    from .state import makeup
else:

    def __getattr__(name: str) -> object:
        """Import on first use: most workers need ``suggest`` alone."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"rlenv.{_HOMES[name]}"), name)


__all__ = [
    "FAULT_KINDS",
    "File",
    "FileFunction",
    "Problems",
    "Safe",
    "StageTables",
    "Unsafe",
    "build",
    "code_allowed",
    "code_of",
    "dumps",
    "key_id",
    "makeup",
    "part",
    "pickled",
    "plain",
    "read_rows",
    "resolve",
    "secret",
    "suggest",
]
_HOMES = {
    "File": "config.files",
    "FileFunction": "references",
    "Problems": "config.problems",
    "Safe": "config.marks",
    "StageTables": "config.tables",
    "Unsafe": "config.marks",
    "build": "config.fit",
    "code_allowed": "config.problems",
    "code_of": "fingerprint",
    "dumps": "record",
    "key_id": "secret",
    "makeup": "state",
    "part": "plugins",
    "pickled": "pickling",
    "plain": "record",
    "read_rows": "rows",
    "resolve": "plugins",
    "secret": "secret",
}
