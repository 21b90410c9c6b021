"""Actions: objects of SDKs that a policy returned become messages, and what is no action raises."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import TypeGuard

from attrs import evolve

from .message import Action, Reply, is_message

WANTED = (
    "return a text, a message of the assistant as a dict with `content` or `tool_calls`, such as "
    "`reply.choices[0].message` of the OpenAI client, a Reply, or for games a value"
)
# Methods that make a dict of an object: of pydantic (OpenAI and most SDKs), and of others.
DUMPS = ("model_dump", "to_dict")
# Types of what a list of Anthropic's or OpenAI's SDK holds.
PARTS = ("text", "thinking", "tool_use", "message", "reasoning", "function_call")
NOTHING = object()


class ActionError(TypeError):
    """A policy returned what is no action.  Its code is wrong, so no reward follows from it."""


def action_of(given: object, *, is_game: bool = False) -> Reply:
    """Return what a policy returned, in one form.

    Messages that are objects of an SDK become dicts, and a legacy ``function_call`` becomes a call
    of a tool.

    Args:
        given: a text, a message, a ``Reply`` of either, or a value.
        is_game: the user of the episode takes any value but None, as objects of Python.

    Raises:
        ActionError: for None, and for what is neither a text, a message nor a value.
    """
    reply = given if isinstance(given, Reply) else Reply(given)
    if type(reply.message) is str:
        return reply
    try:
        made = _action(reply.message, is_game=is_game)
    except ActionError:
        raise
    except Exception as error:  # an object may raise anything when it is read
        name = type(reply.message).__name__
        why = f"{type(error).__name__}: {error}"
        raise ActionError(
            f"the policy returned a {name} that cannot be read ({why:.200}); {WANTED}"
        ) from error
    return reply if made is reply.message else evolve(reply, message=made)


def _action(given: object, *, is_game: bool) -> Action:
    if given is None:
        raise _no_action("None")
    if isinstance(given, Mapping):
        if not (is_game or _has_message(given)):
            _check_envelope(given)
            _check_items([given] if given.get("type") == "function_call" else [])
        return _of_mapping(given)
    dumped = _dump(given)
    if isinstance(dumped, Mapping) and _has_message(dumped):
        return _of_mapping(dumped)
    if not is_game and isinstance(given, (list, tuple)):
        _check_items(given)
    if is_game or _is_value(given):
        return given
    if isinstance(dumped, Mapping):
        _check_envelope(dumped)
    raise _no_action(f"an object of the class {type(given).__name__}")


def _no_action(what: str) -> ActionError:
    return ActionError(f"the policy returned {what}, which is not an action; {WANTED}")


def _check_items(items: Sequence[object]) -> None:
    """Reject a list of what an SDK or a server writes: as a value, it would be a text that earns
    nothing.

    Raises:
        ActionError: an item is a message, a part of one, or an object that JSON does not have.
    """
    for each in items:
        if isinstance(each, Mapping):
            is_part = "role" in each or each.get("type") in PARTS or "generated_text" in each
        else:
            is_part = each is not None and not _is_value(each)
        if is_part:
            name = (
                "a message, or a part of one" if isinstance(each, Mapping) else type(each).__name__
            )
            raise _no_action(f"a list that holds {name}")


def _is_value(given: object) -> bool:
    """Return whether it is a value as JSON has them, or an array, or a number of another
    library.
    """
    if isinstance(given, (str, list, tuple, set, frozenset, Number)):
        return True
    return callable(getattr(given, "tolist", None)) and not isinstance(given, type)


def _dump(given: object) -> object:
    """Return the dict that an object of an SDK says it is; NOTHING for other objects."""
    if isinstance(given, type):
        return NOTHING
    for name in DUMPS:
        dump = getattr(given, name, None)
        if callable(dump):
            return dump()
    return NOTHING


def _has_message(found: Mapping[str, object]) -> bool:
    return is_message(found) or isinstance(found.get("function_call"), Mapping)


def _of_mapping(found: Mapping[str, object]) -> Mapping[str, object]:
    """Return a message with plain calls; a value of JSON as it is."""
    if not _has_message(found):
        return found
    _check_content(found.get("content"))
    legacy = found.get("function_call")
    calls = found.get("tool_calls")
    if isinstance(legacy, Mapping) and not calls:
        return {**found, "tool_calls": [{"type": "function", "function": legacy}]}
    if not _is_list(calls) or all(isinstance(each, Mapping) for each in calls):
        return found
    return {**found, "tool_calls": [_plain_call(each) for each in calls]}


def _is_list(found: object) -> TypeGuard[Sequence[object]]:
    return isinstance(found, Sequence) and not isinstance(found, (str, bytes))


def _plain_call(call: object) -> object:
    """Return a call as a dict: `message.tool_calls` of an SDK holds objects."""
    dumped = _dump(call)
    return call if dumped is NOTHING else dumped


def _check_envelope(found: Mapping[str, object]) -> None:
    """Reject the reply of a server that holds the message somewhere inside.

    Raises:
        ActionError: it is one, and the message says where it is.
    """
    remedies: Mapping[str, Callable[[object], bool]] = {
        "choices": lambda inner: _is_list(inner) and bool(inner) and isinstance(inner[0], Mapping),
        "message": lambda inner: isinstance(inner, Mapping) and is_message(inner),
        "output": lambda _: found.get("object") == "response",
    }
    for key, is_reply in remedies.items():
        if key in found and is_reply(found[key]):
            raise _no_action(f'the whole reply of a server, which holds the message under "{key}"')


def _check_content(content: object) -> None:
    """Reject calls that another protocol writes into the content, where they would be ignored.

    Raises:
        ActionError: a part of the content is such a call.
    """
    if not _is_list(content):
        return
    kinds = [each.get("type") for each in content if isinstance(each, Mapping)]
    if "tool_use" in kinds:
        raise ActionError(
            "the policy returned a message with a tool_use in its content, which is not read; write"
            " calls as `tool_calls`, or with rlenv_plugin_agent.call"
        )
