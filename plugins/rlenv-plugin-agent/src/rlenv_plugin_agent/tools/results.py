"""Results as a policy reads them: text of bounded length, whatever came back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import islice
from pathlib import PurePath
from typing import TypeAlias, cast
from uuid import UUID

from attrs import AttrsInstance, asdict, frozen, has
from rlenv import VerifierFault
from rlenv.authoring import dumps

from rlenv_plugin_agent.errors import ToolError, error_in

Pair: TypeAlias = tuple[object, object]
RESULT = 256_000  # characters of an observation; the rest is left out
DEEPEST = 100  # levels of lists and objects
PLAIN = (bool, int, float, type(None))
TEXTUAL = (date, time, timedelta, Decimal, PurePath, UUID)


@frozen
class Failure:
    """Says why there is no result: its kind and message are what the policy reads, unless the
    environment failed.

    Args:
        kind: the type of the error.
        message: for the policy.
        fault: what the tool raised where the environment failed; it goes on to the episode.
    """

    kind: str
    message: str
    fault: VerifierFault | None = None


def call_function(function: Callable[..., object], given: Mapping[str, object]) -> str | Failure:
    """Call a plain function; never raises.

    Args:
        function: of a tool.
        given: its arguments, by name.
    """
    try:
        return show_value(function(**given))
    except BaseException as error:  # noqa: BLE001 - a tool may raise anything, as SystemExit
        return failure(error)


def failure(error: BaseException) -> Failure:
    """Return what the policy reads of an exception: its text only where the tool meant it to be
    read.
    """
    if isinstance(error, VerifierFault):
        return Failure("fault", str(error), error)
    if isinstance(error, ToolError):
        return Failure("error", str(error)[:2000])
    return Failure("error", f"the tool failed with {type(error).__name__}")


def show_value(result: object) -> str:
    """Return a string as it is, another value as JSON; at most RESULT characters of either and a
    remark.

    A result that is like an error of ours gets a space before it.  So it is no error for logs,
    noise and clients, and the same value of JSON.

    Raises:
        ToolError: for what has no form in JSON. Its text is not asked for: it may hold what is
            secret.
    """
    if not isinstance(result, str):
        result = dumps(_cut(result, [RESULT], 0))
    if error_in(result) is not None:
        result = f" {result}"
    left_out = len(result) - RESULT
    text = result if left_out <= 0 else f"{result[:RESULT]}\n[{left_out:,} characters left out]"
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # lone surrogates


def _cut(value: object, room: list[int], depth: int) -> object:
    """Return the value as far as it fits; ``room`` holds the characters that are left."""
    if isinstance(value, str):
        kept = value[: max(room[0], 0)]
        room[0] -= len(kept) + 2
        return kept if len(kept) == len(value) else f"{kept}[{len(value) - len(kept):,} left out]"
    if isinstance(value, PLAIN):
        room[0] -= 4 if not isinstance(value, int) else 4 + value.bit_length() // 3
        return value
    if isinstance(value, TEXTUAL):
        return _cut(str(value), room, depth)
    if has(type(value)):
        value = asdict(cast("AttrsInstance", value), recurse=False)
    if depth == DEEPEST:
        return "[deeper levels left out]"
    if isinstance(value, Mapping):
        return {
            str(key): item for key, item in _pairs_that_fit(value.items(), len(value), room, depth)
        }
    if isinstance(value, (list, tuple, set, frozenset)):
        ordered = isinstance(value, (list, tuple))
        items = value if ordered else sorted(islice(value, RESULT), key=repr)
        return [item for _, item in _pairs_that_fit(enumerate(items), len(items), room, depth)]
    raise ToolError(f"the tool returned {type(value).__name__}, which is not a value of JSON")


def _pairs_that_fit(
    pairs: Iterable[Pair], count: int, room: list[int], depth: int
) -> Iterator[Pair]:
    """Yield the pairs for which there is room, and how many there are besides."""
    for number, (key, item) in enumerate(pairs):
        if room[0] <= 0:
            yield "[left out]", f"[{count - number:,} left out]"
            return
        if not isinstance(key, (str, *PLAIN)):
            raise ToolError(f"the tool returned a key of type {type(key).__name__}")
        yield _cut(key, room, depth), _cut(item, room, depth + 1)
