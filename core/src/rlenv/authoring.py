"""What plugins need besides ``rlenv`` and its ``hooks``, ``text``, ``sandbox`` and ``workers``.

To read a table of options: ``problems = Problems()``, then ``made = build(Rubric, table, "rubric",
problems)``, which notes every mistake with its path, then ``problems.check()``, which raises them
together. ``label: Safe[str]`` marks an option that a stranger's env.toml may set (``code=False``),
since it reaches nothing outside; numbers, true and false and literals may be set without a mark,
unless they are ``Unsafe``. ``FAULT_KINDS`` are the kinds that a ``Fault`` may have. ``Signature``
describes the reward functions of a trainer, for messages; an adapter registers it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .model.messages import suggest
from .model.values import FAULT_KINDS

if TYPE_CHECKING:
    from .compose.signatures import Signature
    from .config.files import File
    from .config.fit import build
    from .config.marks import Safe, Unsafe
    from .config.problems import Problems, code_allowed
    from .config.references import FileFunction
    from .config.rows import read_rows
    from .config.tables import StageTables
    from .identity.fingerprint import code_of
    from .identity.secret import key_id, secret
    from .identity.state import makeup
    from .model.record import dumps, plain
    from .plugins.registry import part, resolve
    from .runtime.pickling import pickled
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
    "Signature",
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
    "FileFunction": "config.references",
    "Problems": "config.problems",
    "Safe": "config.marks",
    "Signature": "compose.signatures",
    "StageTables": "config.tables",
    "Unsafe": "config.marks",
    "build": "config.fit",
    "code_allowed": "config.problems",
    "code_of": "identity.fingerprint",
    "dumps": "model.record",
    "key_id": "identity.secret",
    "makeup": "identity.state",
    "part": "plugins.registry",
    "pickled": "runtime.pickling",
    "plain": "model.record",
    "read_rows": "config.rows",
    "resolve": "plugins.registry",
    "secret": "identity.secret",
}
