"""``constraints/schema``: JSON that a JSON Schema describes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import Attempt, ConfigError, Outcome, Task, TaskError
from rlenv.authoring import Safe

from rlenv_plugin_constraints.discreet import discreet
from rlenv_plugin_constraints.kinds.json_schema import JsonSchema
from rlenv_plugin_constraints.stages.all import outcome
from rlenv_plugin_constraints.text import Text

__all__ = ["Schema"]


@frozen(slots=False)
class Schema:
    """1 when the response, or its one fenced block, is JSON that fits the schema; else 0.

    No NaN, no repeated keys, 50 levels and 200,000 characters at most; references stay within the
    schema.

    Args:
        schema: a JSON Schema, for every task.
        source: where a task has its own instead: ``info.schema`` for example, a table or its text.
        draft: "draft4", "draft6", "draft7", "2019-09" or "2020-12"; "" goes by ``$schema``, else
            2020-12.
        prose: whether text may be around the fenced block.
    """

    phase: ClassVar[str] = "constrain"
    where: ClassVar[str] = "inline"

    schema: Safe[Mapping[str, Any] | None] = None
    source: Safe[str] = ""
    draft: Safe[str] = ""
    prose: bool = False
    _common: JsonSchema | None = field(init=False, repr=False, eq=False, default=None)

    def __attrs_post_init__(self) -> None:
        if (self.schema is None) == (not self.source):
            raise ConfigError('give schema, or where the tasks have it: source = "info.schema"')
        if self.source and not self.source.startswith("info."):
            raise ConfigError(f'source is a path such as "info.schema", not {self.source!r}')
        if self.schema is not None:
            made = JsonSchema(dict(self.schema), self.draft, self.prose)
            object.__setattr__(self, "_common", made)

    @property
    def uses(self) -> tuple[str, ...]:
        """What it needs of a task."""
        return (self.source,) if self.source else ()

    def validate(self, task: Task) -> None:
        """Refuse a task whose schema is none."""
        try:
            self._of(task)
        except ConfigError as err:
            raise TaskError("; ".join(err.problems), task.id) from None

    def check(self, attempt: Attempt) -> Outcome:
        """1 or 0; data has the first places that do not fit."""
        text = Text(attempt.visible, attempt.task.prompt)
        found = self._of(attempt.task).check(text)
        said = outcome([("json_schema", found)], "all", attempt=attempt)
        return discreet(said) if self.source else said

    def _of(self, task: Task) -> JsonSchema:
        if self._common is not None:
            return self._common
        own: Any = task.info
        for key in self.source.split(".")[1:]:
            own = own.get(key) if isinstance(own, Mapping) else None
        return _built(own if isinstance(own, str) else json.dumps(own), self.draft, self.prose)


@lru_cache(maxsize=1024)  # a task is verified many times
def _built(schema: str, draft: str, prose: bool) -> JsonSchema:  # noqa: FBT001 - a cache's key
    try:
        read = json.loads(schema)
    except ValueError as err:
        raise ConfigError(f"the schema is no JSON: {err}") from None
    return JsonSchema(read, draft, prose)
