"""JSON that a JSON Schema describes; references stay inside the schema."""

from __future__ import annotations

from typing import Any, ClassVar

from attrs import field, frozen
from rlenv.authoring import Safe

from rlenv_plugin_constraints.blocks import only_block
from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.kinds.jsons import LABELS, NotData, read_json
from rlenv_plugin_constraints.lazy import lazy
from rlenv_plugin_constraints.schemas import Exceeded, compiled, schema_problems
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet

__all__ = ["JsonSchema"]

SIZE = 200_000  # characters of a response; the time grows with the schema as well
DEPTH = 50  # a schema that goes round takes several frames a level
WANTED = "fits the schema"


@frozen(slots=False)
class JsonSchema:
    """The response is JSON that fits ``schema``.  Takes time in proportion to the schema as well.

    Args:
        schema: a JSON Schema; its references stay within it, ``format`` is a note and asserts
            nothing.
        draft: "draft4", "draft6", "draft7", "2019-09" or "2020-12"; "" goes by ``$schema``, else
            2020-12.
        prose: whether text may be around the fenced block.

    Raises:
        ConfigError: for a schema that is none, with every mistake.
    """

    kind: ClassVar[str] = "json_schema"
    is_answer: ClassVar[bool] = True
    schema: Safe[Any] = field()
    draft: Safe[str] = ""
    prose: bool = False

    def __attrs_post_init__(self) -> None:
        from rlenv import ConfigError

        if problems := schema_problems(self.schema, self.draft):
            raise ConfigError(*problems)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.schema, self.draft, self.prose)

    @lazy
    def _fits(self) -> Any:
        return compiled(self.schema, self.draft)

    def check(self, text: Text) -> Finding:
        if len(text.raw) > SIZE:
            return unmet(None, WANTED, note=f"undecided: longer than {SIZE:,} characters")
        block = only_block(text.raw, LABELS, prose=self.prose)
        if isinstance(block, str):
            return unmet(None, WANTED, note=block)
        span = [(block.start, block.end)]
        try:
            values = 1 + sum(map(block.text.count, ",[{"))  # at most
            errors = self._fits(read_json(block.text, DEPTH), values)
        except (NotData, Exceeded) as err:
            return unmet(None, WANTED, span, str(err))
        return Finding(not errors, errors or "fits", WANTED, span, (errors or [""])[0])
