"""YAML of plain values: one document, no tags, no repeated keys, and aliases that are never
expanded.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from attrs import field, frozen
from rlenv.authoring import Safe

from rlenv_plugin_constraints.blocks import only_block
from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.kinds.jsons import NotData, spans_at
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet

__all__ = ["Yaml"]

LABELS = ("yaml", "yml")
SIZE = 200_000  # characters; the reader takes a microsecond for some of them
DEPTH = 100
ALIASES = 100


@frozen
class Yaml:
    """The response is YAML: all of it, or its one fenced block.

    Args:
        type: "container" is a mapping or a sequence; "any" takes plain text too, and nearly all
            prose is that.
        keys: what the mapping must have.
        aliases: whether ``*name`` may stand for what ``&name`` marks.
        prose: whether text may be around the fenced block.
    """

    kind: ClassVar[str] = "yaml"
    is_answer: ClassVar[bool] = True
    type: Literal["container", "mapping", "sequence", "any"] = "container"
    keys: Safe[tuple[str, ...]] = field(default=())
    aliases: bool = True
    prose: bool = False

    def check(self, text: Text) -> Finding:
        wanted = "mapping or sequence" if self.type == "container" else self.type
        block = only_block(text.raw, LABELS, prose=self.prose)
        if isinstance(block, str):
            return unmet(None, wanted, note=block)
        try:
            found, keys = _read(block.text, aliases=self.aliases)
        except NotData as err:
            return unmet(None, wanted, spans_at(text.raw, block, err.place), str(err))
        fits = self.type in ("any", found) or (self.type == "container" and found != "scalar")
        missing = [key for key in self.keys if key not in keys]
        note = f"without {', '.join(missing)[:200]}" if missing else ""
        return Finding(fits and not missing, found, wanted, [(block.start, block.end)], note)


def _read(text: str, *, aliases: bool) -> tuple[str, set[str]]:
    """(what the document is, the keys of its top mapping).

    Raises:
        NotData: for what is no YAML, or more than one document of plain values.
    """
    import yaml  # type: ignore[import-untyped]

    if len(text) > SIZE:
        raise NotData(f"undecided: longer than {SIZE:,} characters")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    reading = _Reading(aliases=aliases)
    try:
        for event in yaml.parse(text, Loader=loader):
            reading.take(event)
    except yaml.MarkedYAMLError as err:
        place = None if err.problem_mark is None else err.problem_mark.index
        raise NotData(f"no YAML: {err.problem or err.context or 'unreadable'}", place) from None
    except (yaml.YAMLError, UnicodeError):
        raise NotData("no YAML: a character that may not be in it") from None
    if not reading.top:
        raise NotData("there is nothing")
    return reading.top, reading.keys


class _Reading:
    """Walks the events of one document and builds nothing."""

    def __init__(self, *, aliases: bool) -> None:
        self.top = ""
        self.keys: set[str] = set()
        self._aliases = aliases
        self._used = 0
        self._anchors: set[str] = set()
        self._documents = 0
        # one entry per open collection: None of a sequence; of a mapping its keys and whether a key
        # is next
        self._open: list[tuple[set[str], list[bool]] | None] = []

    def take(self, event: Any) -> None:
        name = type(event).__name__
        if name == "ScalarEvent" and event.tag is None and event.anchor is None:
            self.top = self.top or "scalar"
            self._place(name, event)
        elif name == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                raise NotData("more than one document", event.start_mark.index)
            if event.tags or event.version:
                raise NotData("a directive", event.start_mark.index)
        elif name in ("ScalarEvent", "AliasEvent", "MappingStartEvent", "SequenceStartEvent"):
            self._node(name, event)
        elif name in ("MappingEndEvent", "SequenceEndEvent"):
            self._open.pop()

    def _node(self, name: str, event: Any) -> None:
        at = event.start_mark.index
        if name != "AliasEvent" and event.tag is not None:
            raise NotData(f"the tag {event.tag[:40]!r}", at)
        if name == "AliasEvent":
            self._used += 1
            if not self._aliases or self._used > ALIASES:
                raise NotData(
                    "an alias" if not self._aliases else f"more than {ALIASES} aliases", at
                )
            if event.anchor not in self._anchors:
                raise NotData(f"*{event.anchor[:40]} stands for nothing", at)
        elif event.anchor is not None:
            self._anchors.add(event.anchor)
        self.top = (
            self.top or {"M": "mapping", "S": "sequence"}[name[0]]
            if name[1] != "c"
            else self.top or "scalar"
        )
        self._place(name, event)
        if name == "MappingStartEvent":
            self._open.append((set(), [True]))
        elif name == "SequenceStartEvent":
            self._open.append(None)
        if len(self._open) > DEPTH:
            raise NotData(f"undecided: nested more than {DEPTH} deep", at)

    def _place(self, name: str, event: Any) -> None:
        """Note a key of the mapping that is open."""
        if not self._open or self._open[-1] is None:
            return
        keys, next_is_key = self._open[-1]
        if next_is_key[0] and name == "ScalarEvent":
            value = event.value
            if value in keys and value != "<<":
                raise NotData(f"the key {value[:40]!r} appears twice", event.start_mark.index)
            keys.add(value)
            if len(self._open) == 1:
                self.keys.add(value)
        next_is_key[0] = not next_is_key[0]
