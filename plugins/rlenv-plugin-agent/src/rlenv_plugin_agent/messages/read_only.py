"""Read-only dicts and lists: what a policy is given of a conversation.

They are subclasses of ``dict`` and ``list``, because ``json.dumps``, chat templates and the clients
of servers accept nothing else.  So a conversation is not copied for each turn: a turn costs what is
new in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")
COPY = (
    "copy it first: [*messages] for the list, {**message} for a message, copy.deepcopy(messages)"
    " for all of it"
)


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    """Raise for each method that would change the value."""
    kind = "list" if isinstance(self, list) else "dict"
    raise TypeError(f"this {kind} is read-only, since the episode goes on with it; {COPY}")


class ReadOnlyDict(dict[str, object]):
    """A dict that cannot be changed; its copies are plain dicts."""

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> dict[str, object]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, object]:
        return {key: deepcopy(value, memo) for key, value in self.items()}

    def __reduce_ex__(self, _: object) -> tuple[type, tuple[object, ...]]:
        return dict, ([*self.items()],)


class ReadOnlyList(list[T]):
    """A list that cannot be changed; its copies and slices are plain lists."""

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __copy__(self) -> list[T]:
        return [*self]

    def __deepcopy__(self, memo: dict[int, Any]) -> list[T]:
        return [deepcopy(value, memo) for value in self]

    def __reduce_ex__(self, _: object) -> tuple[type, tuple[object, ...]]:
        return list, (tuple(self),)


def read_only(value: object) -> object:
    """Return a read-only copy of a value, with all that it holds; itself where it is one already.

    Args:
        value: of JSON; a tuple becomes a list, and what is no value of JSON stays as it is.
    """
    kind = type(value)
    if kind is str or kind is ReadOnlyDict or kind is ReadOnlyList:
        return value
    if isinstance(value, Mapping):
        return ReadOnlyDict({key: read_only(item) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        return ReadOnlyList(map(read_only, value))
    return value


def read_only_message(message: Mapping[str, object]) -> ReadOnlyDict:
    """Return a message that neither a policy nor a tool can change.

    Args:
        message: of any role.
    """
    if type(message) is ReadOnlyDict:
        return message
    return ReadOnlyDict({key: read_only(value) for key, value in message.items()})


def read_only_messages(
    messages: Iterable[Mapping[str, object]],
) -> ReadOnlyList[Mapping[str, object]]:
    """Return a read-only list of messages; those that are read-only already are not copied.

    Args:
        messages: of a conversation.
    """
    return ReadOnlyList(map(read_only_message, messages))
