"""Options that are stages themselves, as tables, and where they were written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

Table = Mapping[str, object]


class StageTables(tuple[Table, ...]):  # noqa: SLOT001 - a tuple has no room for slots
    """Tables as of ``[[stage]]`` as the option of a stage, which makes an environment of them.

    Files in them are relative to the folder of the env.toml, and what ``code=False`` rejects is
    rejected in them too.

    Example:
        def __attrs_post_init__(self) -> None:
            given = StageTables(self.stages)
            tables = {"name": "inner", "stage": [*given]}
            self.inner = Environment.from_dict(tables, base_dir=given.base, code=given.code)

    Attributes:
        base: the folder that files are relative to; the working directory where the stage is made
            by hand.
        code: whether they may name code.
    """

    base: str
    code: bool

    def __new__(  # noqa: PYI034 - it may be one already
        cls,
        tables: Iterable[Table] = (),
        base: str | os.PathLike[str] = ".",
        *,
        code: bool = True,
    ) -> StageTables:
        if isinstance(tables, StageTables):
            return tables
        made = super().__new__(cls, tables)
        made.base = os.path.abspath(base)
        made.code = code
        return made

    def __rlenv_state__(self) -> list[Table]:
        return [*self]  # a fingerprint is the same wherever the folder is
