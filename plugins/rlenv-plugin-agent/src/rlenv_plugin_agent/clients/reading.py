"""Readers of what a server says, which is taken as hostile: texts, calls, and token ids with their
counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rlenv import Tokens

from rlenv_plugin_agent.messages import json_of

from .errors import EndpointError

DEPTH = 64  # of the arguments of a call
MOST_CALLS = 1024  # that are kept of one message
# What vLLM says for a log-probability that it does not have, or that is lower.
UNKNOWN = -9999.0
VOCABULARY = 1 << 20  # more ids than models have


def mapping(found: object) -> Mapping[str, object]:
    """Return the value if it is a mapping, else an empty one."""
    return found if isinstance(found, Mapping) else {}


def sequence(found: object) -> Sequence[object]:
    """Return the value if it is a list, else an empty one."""
    return found if isinstance(found, list) else []


def text(found: object) -> str:
    """Return a text that can be written as UTF-8; "" for anything else."""
    parts = [mapping(each).get("text") for each in sequence(found)]
    told = found if isinstance(found, str) else "".join(p for p in parts if isinstance(p, str))
    return told.encode("utf-8", "replace").decode()


def choice_of(reply: Mapping[str, object], where: str) -> Mapping[str, object]:
    """Return the first choice of a reply.

    Args:
        reply: of a server.
        where: names the server in errors.

    Raises:
        EndpointError: it is missing.
    """
    found = sequence(reply.get("choices"))
    if not found or not isinstance(found[0], Mapping):
        raise EndpointError(f"{where}: the reply has no choice")
    return found[0]


def message_of(choice: Mapping[str, object], where: str) -> dict[str, object]:
    """Return the message of a chat completion.

    Args:
        choice: of a reply.
        where: names the server in errors.

    Raises:
        EndpointError: it is missing.
    """
    said = choice.get("message")
    if not isinstance(said, Mapping):
        raise EndpointError(f"{where}: the reply has a choice without a message")
    made: dict[str, object] = {"role": "assistant"}
    made["content"] = text(said.get("content")) or text(said.get("refusal"))
    # `reasoning` is vLLM's name since 0.11, `reasoning_content` SGLang's and DeepSeek's
    if thought := text(said.get("reasoning")) or text(said.get("reasoning_content")):
        made["reasoning_content"] = thought
    wanted = sequence(said.get("tool_calls"))[:MOST_CALLS]
    if not wanted and isinstance(legacy := said.get("function_call"), Mapping):
        wanted = [{"function": legacy}]  # of servers that know no `tool_calls`
    if calls := [_call(each) for each in wanted]:
        made["tool_calls"] = calls
    return made


def _call(given: object) -> dict[str, object]:
    function = mapping(mapping(given).get("function"))
    return call(text(function.get("name")), function.get("arguments"))


def call(name: str, arguments: object) -> dict[str, object]:
    """Return a call of a tool as messages hold it; arguments that are an object stay one.

    Args:
        name: of the tool.
        arguments: a text of JSON, or an object.
    """
    given = dict(arguments) if isinstance(arguments, Mapping) else text(arguments)
    return {"type": "function", "function": {"name": name, "arguments": given}}


def arguments_of(written: object) -> dict[str, object] | None:
    """Return the arguments of a call as an object; None for what servers and templates reject: text
    that is no object of JSON, or one deeper than 64 levels.
    """
    # `int` raises for NaN and Infinity, which are no numbers of JSON
    found = json_of(written, int) if isinstance(written, str) else written
    return found if isinstance(found, dict) and _is_flat(found, DEPTH) else None


def _is_flat(value: object, levels: int) -> bool:
    inner: Iterable[object] = ()
    if isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, list):
        inner = value
    return levels > 0 and all(_is_flat(each, levels - 1) for each in inner)


def tokens_of(
    prompt_ids: object,
    ids: object,
    logprobs: object = None,
    *,
    names: object = None,
    usage: object = None,
) -> Tokens:
    """Return what a server says of the ids of one call: exact only if all that it says agrees.

    Args:
        prompt_ids: that the model was given.
        ids: that it sampled.
        logprobs: of the sampled ids; None where the server omits them.
        names: of the sampled ids, "token_id:N" each; None where the server omits them.
        usage: what the server counted: ``prompt_tokens`` and ``completion_tokens``.

    Returns:
        Tokens; with ``exact=False`` where ids are missing, are no ids, or differ in number from
        ``usage``, from the log-probabilities or from ``names``.
    """
    try:
        made = Tokens(_listed(prompt_ids), _listed(ids), _known(logprobs))
    except (TypeError, ValueError):
        return Tokens((), (), exact=False)
    counts = tuple(mapping(usage).get(key) for key in ("prompt_tokens", "completion_tokens"))
    agreed = counts == (len(made.prompt_ids), len(made.ids)) and {*map(type, counts)} == {int}
    if names is not None:
        agreed = agreed and names == [f"token_id:{each}" for each in made.ids]
    return made if agreed and made.ids else Tokens(made.prompt_ids, made.ids, exact=False)


# One object for each id: a prompt of 100,000 ids would bring 3 MB of its own.
_shared = dict[int, int]()


def _listed(found: object) -> list[int]:
    if not isinstance(found, list) or {*map(type, found)} - {int}:
        raise TypeError("ids are a list of integers")
    return [_shared.setdefault(at, at) if 0 <= at < VOCABULARY else at for at in found]


def _known(found: object) -> list[float] | None:
    """Return log-probabilities; None where one is unknown.  Rounding may leave one above 0."""
    if found is None:
        return None
    if not isinstance(found, list) or not all(type(each) in (int, float) for each in found):
        raise TypeError("log-probabilities are numbers")
    if UNKNOWN in found:
        return None
    return [min(each, 0.0) if each < 1e-6 else each for each in found]
