"""Formats in which models write calls of tools into their text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from attrs import frozen

from rlenv_plugin_agent.messages import json_of

from .reading import MOST_CALLS, call

THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)|\A.*?</think>", re.DOTALL)


@frozen
class Format:
    """The form in which one family of models writes calls.

    Args:
        written: matches one place of calls; its group is JSON, an object or a list of them.
        arguments: the key of the arguments in such an object, beside ``name``.
        sign: a text that chat templates of this family contain.
    """

    written: re.Pattern[str]
    arguments: str
    sign: str


# As vLLM's parsers read them (vllm/tool_parsers/hermes_tool_parser.py, llama_tool_parser.py,
# mistral_tool_parser.py).
FORMATS = {
    "hermes": Format(
        re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL), "arguments", "<tool_call>"
    ),
    "mistral": Format(re.compile(r"\[TOOL_CALLS\](.*)\Z", re.DOTALL), "arguments", "[TOOL_CALLS]"),
    "llama": Format(
        re.compile(r"\A\s*(?:<\|python_tag\|>\s*)?(\{.*)\Z", re.DOTALL),
        "parameters",
        '"parameters": ',
    ),
}


def format_of(template: str) -> str:
    """Return the name of the format that a chat template teaches; "" where the table lacks it."""
    return next((name for name, each in FORMATS.items() if each.sign in template), "")


def message_in(written: str, form: str) -> dict[str, object]:
    """Return the message that a text is: its calls, and before them its content.

    Thinking holds no calls.  A call that cannot be read is one of the tool "", whose answer is an
    error.

    Args:
        written: what the model wrote.
        form: a name of ``FORMATS``; "" where it may call nothing.
    """
    message: dict[str, object] = {"role": "assistant", "content": written}
    if not form:
        return message
    hidden = max((found.end() for found in THOUGHT.finditer(written)), default=0)
    places = [*FORMATS[form].written.finditer(written[hidden:])]
    if places:
        message["content"] = written[: hidden + places[0].start()].rstrip("\n")
        calls = [each for place in places for each in _calls(place[1], FORMATS[form].arguments)]
        message["tool_calls"] = calls[:MOST_CALLS]
    return message


def _calls(written: str, key: str) -> list[dict[str, object]]:
    if (found := json_of(written)) is None:
        return [call("", written.strip())]
    return [_call(each, key) for each in (found if isinstance(found, list) else [found])]


def _call(found: object, key: str) -> dict[str, object]:
    given = found if isinstance(found, Mapping) else {}
    name = given.get("name")
    arguments = given.get(key, {})
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        return call("", json.dumps(found))
    return call(name, json.dumps(arguments))
