"""A person in the policy's place: shows what a policy is given, reads an answer or calls of
tools.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from itertools import takewhile
from typing import Any, cast

from attrs import define, field
from rlenv.model.messages import suggest

from rlenv_cli.console import amount, block, is_terminal, one_line, typed, visible
from rlenv_cli.environments import parse_value
from rlenv_cli.needed import plugin

from .policies import Messages

LINES = 400  # of one message
HELP = """\
An answer is one line. Other lines:
  /call NAME key=value ...   call a tool; values are TOML, or else text
  /call NAME {"key": ...}    the same with JSON
  /text                      begin an answer of several lines, which a line with a dot alone ends
  //...                      an answer that begins with a slash
  /help                      show this, and the tools; Ctrl-D gives up"""


@define
class Person:
    """The policy: prints what is new, and reads lines until one is an action."""

    seen: list[Mapping[str, object]] = field(factory=list)
    tools: dict[str, Mapping[str, Any]] = field(factory=dict)

    async def __call__(self, messages: Messages, tools: Messages) -> Any:
        """Blocks the loop, which has nothing else to do."""
        told = [cast("Mapping[str, Any]", each["function"]) for each in tools]
        self.tools = {str(each["name"]): each for each in told}
        first = not self.seen
        self.show(messages)
        if first:
            self.list_tools()
        while True:
            try:
                return self.read(line())
            except (ValueError, RecursionError) as error:  # also of JSON, and of quotes
                print(
                    f"rlenv: {visible(str(error))}; /help says how to answer and to call",
                    file=sys.stderr,
                    flush=True,
                )

    def show(self, messages: Messages) -> None:
        """What was added since the last time, but for the person's own."""
        pairs = zip(self.seen, messages, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        for message in messages[same:]:
            if message.get("role") != "assistant":
                print(f"[{one_line(str(message.get('role')), 40)}]")
                print(block(plugin("agent", "messages").text_of(message.get("content")), LINES))
        self.seen = [*messages]

    def list_tools(self) -> None:
        """A line for each tool."""
        print(f"{amount(len(self.tools), 'tool')}; /help says how to answer and to call")
        for name, told in self.tools.items():
            names = ", ".join(f"{key}: {_kind(value)}" for key, value in _properties(told).items())
            print(
                f"  {one_line(name)}({one_line(names, 200)}) "
                f" {one_line(str(told.get('description', '')))}"
            )

    def read(self, text: str) -> Any:
        """The action that a line is.

        Raises:
            ValueError: it is not one; says why.
            EOFError: the person gives up.
        """
        word, _, rest = text.partition(" ")
        if text.startswith("//"):
            return text[1:]
        if word == "/text":
            return several(rest)
        if word == "/call":
            return plugin("agent", "messages").calls(self.call(rest))
        if not word.startswith("/"):
            return text
        print(HELP)
        self.list_tools()
        raise ValueError("waiting for an answer or a call")

    def call(self, text: str) -> tuple[str, Any]:
        """``add a=2 b=3`` as a name and arguments."""
        name, _, rest = text.strip().partition(" ")
        if name not in self.tools:
            raise ValueError(
                f"no tool {one_line(name)!r};"
                f" {suggest(name, self.tools, what='there are') or 'there are no tools'}"
            )
        if rest.lstrip().startswith("{"):
            return name, json.loads(rest)
        words = [each.partition("=") for each in shlex.split(rest)]
        if odd := next((key for key, equals, _ in words if not equals), None):
            raise ValueError(
                f"{one_line(odd)}: write key=value, in quotes where the value has spaces"
            )
        kinds = _properties(self.tools[name])
        return name, {
            k: v if _kind(kinds.get(k)) == "string" else parse_value(v) for k, _, v in words
        }


def several(first: str) -> str:
    """An answer of several lines, up to one with a dot alone, or the end of the input."""
    lines = [first] if first else []
    with suppress(EOFError):
        while (text := line("... ")) != ".":
            lines.append(text)
    return "\n".join(lines)


def line(prompt: str = "> ") -> str:
    """A line of standard input.

    Raises:
        EOFError: there are no more.
    """
    if is_terminal(sys.stdin):
        with suppress(ImportError):
            import readline  # noqa: F401 - lets input() edit a line, however long it is
        return typed(input(prompt))
    sys.stdout.flush()  # whoever answers by a pipe waits for it
    if not (text := sys.stdin.readline()):
        raise EOFError
    return typed(text.removesuffix("\n").removesuffix("\r"))


def _properties(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    return (tool.get("parameters") or {}).get("properties") or {}


def _kind(schema: object) -> str:
    return str(schema.get("type", "any")) if isinstance(schema, Mapping) else "any"
