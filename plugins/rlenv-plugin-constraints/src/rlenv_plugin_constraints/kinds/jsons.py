"""JSON: an object or an array, read as RFC 8259 has it, with nothing that its readers disagree
about.
"""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar, Literal, NoReturn

from attrs import field, frozen
from rlenv.authoring import Safe
from rlenv.text import Block

from rlenv_plugin_constraints.blocks import only_block
from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet

__all__ = ["LABELS", "Json", "NotData", "read_json"]

LABELS = ("json", "jsonc", "json5")
DEPTH = 200  # far from the recursion limit, so that the answer is the same on every stack
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_BESIDE_BRACKETS = bytes(set(range(256)) - set(b'[]{}"'))
_LONG = re.compile(r"[0-9]{4000}")
_NAMES = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}


class NotData(ValueError):
    """What the text is instead; ``place`` is a character of it, where there is one."""

    def __init__(self, reason: str, place: int | None = None) -> None:
        super().__init__(reason)
        self.place = place


def _unnumber(name: str) -> NoReturn:
    raise NotData(f"{name} is no JSON")


def _number(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise NotData("a number that no reader can hold")
    return value


def _integer(text: str) -> Any:
    return int(text) if len(text) < 4000 else _number(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise NotData(f"the key {twice[:40]!r} appears twice")
    return made


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_unnumber, parse_float=_number
)
_LONG_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_unnumber, parse_float=_number, parse_int=_integer
)


def read_json(text: str, depth: int = DEPTH) -> Any:
    """The value of a text that is JSON and nothing else.

    No NaN, no repeated key, ``depth`` levels at most.

    Raises:
        NotData: with the reason, and the place where it is known.
    """
    too_deep = _deeper_than(text, depth)
    if too_deep is not None:
        raise NotData(f"undecided: nested more than {depth} deep", too_deep)
    decoder = _LONG_DECODER if _LONG.search(text) else _DECODER
    begin = len(text) - len(text.lstrip(" \t\n\r"))
    try:
        value, end = decoder.raw_decode(text, begin)
    except json.JSONDecodeError as err:
        raise NotData(err.msg[0].lower() + err.msg[1:], err.pos) from None
    if text[end:].strip(" \t\n\r"):
        raise NotData("something is after the value", end)
    return value


def _deeper_than(text: str, most: int) -> int | None:
    if text.count("[") + text.count("{") <= most or _surely_flat(text, most):
        return None
    depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth > most:
                return token.start()
        elif token[0] in "]}":
            depth -= 1
    return None


def _surely_flat(text: str, most: int) -> bool:
    """Whether taking away innermost brackets so often leaves nothing; a False says nothing."""
    if "\\" in text:
        return False
    left = text.encode("utf-8", "surrogatepass").translate(None, _BESIDE_BRACKETS)
    left = left.replace(b'""', b"")  # strings without a bracket; others leave a quotation mark
    for turn in range(most):
        left = left.replace(*((b"{}", b""), (b"[]", b""))[turn % 2])
        if not left:
            return True
        if turn > 20 and len(left) > most:
            return False
    return False


def name_of(value: Any) -> str:
    """The JSON type of a value."""
    return _NAMES.get(type(value), "number")


@frozen
class Json:
    """The response is JSON: all of it, or its one fenced block.

    Args:
        type: "container" is an object or an array; "any" takes strings and numbers too.
        keys: what the object must have.
        prose: whether text may be around the fenced block.
    """

    kind: ClassVar[str] = "json"
    is_answer: ClassVar[bool] = True
    type: Literal["container", "object", "array", "any"] = "container"
    keys: Safe[tuple[str, ...]] = field(default=())
    prose: bool = False

    def check(self, text: Text) -> Finding:
        wanted = "object or array" if self.type == "container" else self.type
        block = only_block(text.raw, LABELS, prose=self.prose)
        if isinstance(block, str):
            return unmet(None, wanted, note=block)
        try:
            value = read_json(block.text)
        except NotData as err:
            return unmet(None, wanted, spans_at(text.raw, block, err.place), str(err))
        found = name_of(value)
        fits = self.type in ("any", found) or (
            self.type == "container" and found in ("object", "array")
        )
        missing = [key for key in self.keys if not isinstance(value, dict) or key not in value]
        note = f"without {', '.join(missing)[:200]}" if missing else ""
        return Finding(fits and not missing, found, wanted, [(block.start, block.end)], note)


def spans_at(raw: str, block: Block, place: int | None) -> list[tuple[int, int]]:
    """One character of a block in the response, or all of it where no place is known."""
    if place is None or block.start + len(block.text) != block.end:
        return [(block.start, block.end)]
    at = min(block.start + place, len(raw))
    return [(at, min(at + 1, len(raw)))]
