"""Conversations as token ids: a model's chat template and tokenizer, where no content becomes a
control token.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from os.path import commonprefix
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from attrs import define, field
from rlenv import ConfigError

from rlenv_plugin_agent.messages import Message

from .errors import ContextExceeded, EndpointError
from .reading import arguments_of, mapping
from .templates import compile_template, tojson

if TYPE_CHECKING:
    from jinja2 import Template
    from tokenizers import Tokenizer

Messages: TypeAlias = Sequence[Message]
# noncharacters of Unicode: no text holds them
SPLIT = "\ufdd0"
END = "\ufdd1"


@define(slots=False)
class Renderer:
    """Renders conversations with a model's tokenizer and chat template.

    Args:
        tokenizer: of the package ``tokenizers``.
        template: the chat template, as a text of Jinja.
        options: further variables of the template, as ``enable_thinking`` or ``bos_token``.
    """

    tokenizer: Tokenizer
    template: str
    options: Mapping[str, object] = field(factory=dict)

    @cached_property
    def special(self) -> dict[int, str]:
        """Return the control tokens by id."""
        added = self.tokenizer.get_added_tokens_decoder()
        return {at: each.content for at, each in added.items() if each.special}

    @cached_property
    def _control(self) -> re.Pattern[str]:
        found = sorted(self.special.values(), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, found)) or r"(?!)")

    @cached_property
    def _template(self) -> Template:
        from jinja2 import TemplateSyntaxError

        try:
            return compile_template(self.template)
        except TemplateSyntaxError as error:
            raise ConfigError(
                f"the chat template cannot be read: line {error.lineno}: {error}"
            ) from None

    def check(self) -> None:
        """Read the template.

        Raises:
            ConfigError: it cannot be read.
        """
        self._template  # noqa: B018 - it is read here, and not at the first call of the policy

    def prompt(self, messages: Sequence[Message], tools: Sequence[Message]) -> list[int]:
        """Return the ids of a whole conversation, up to where the model goes on.

        Args:
            messages: of the conversation.
            tools: schemas that the template shows.

        Raises:
            ContextExceeded: the template cannot write the calls that the model wrote earlier.
            EndpointError: the template cannot write the messages.
        """
        written = [*map(self._safe, messages)]
        try:
            return self.encode(self._text(written, tools, goes_on=True))
        except EndpointError as error:
            bare = [{k: v for k, v in each.items() if k != "tool_calls"} for each in written]
            if bare == written:
                raise
            self._text(bare, tools, goes_on=True)  # raises where the calls are not what it rejects
            raise ContextExceeded(str(error)) from None

    def following(
        self, new: Messages, tools: Messages, *, last: str, called: str | Sequence[str]
    ) -> list[int]:
        """Return the ids of what follows a message of the model, up to where it goes on.

        Args:
            new: what was said since.
            tools: as for ``prompt``.
            last: the control token that the model sampled last, "" where a limit cut its message.
            called: the names of the tools that the message called, in order, or one name for all;
                "" for none.

        Raises:
            ConfigError: the template leaves out what the model writes.
            EndpointError: the template cannot write the messages.
        """
        calls = self._calls(new, [called] if isinstance(called, str) else called)
        before, after = self._around([*map(self._safe, new)], tools, calls)
        place, end = self._end(before, after)
        if not last:
            return self.encode(end + after[place:])
        # Models as GLM end a message with the control token that begins the next one.
        return self.encode(after[place:] if end else after[place:].removeprefix(last))

    def _end(self, before: str, after: str) -> tuple[int, str]:
        """Return where in ``after`` the message of the model ends, and with which control token, ""
        for none.

        Args:
            before: what the template writes behind the message where it is the last.
            after: what it writes behind it where others follow.
        """
        same = len(commonprefix([before, after]))  # noqa: RUF071 - texts, not paths
        marks = self._control.finditer(after)
        same = next((each.start() for each in marks if each.start() < same < each.end()), same)
        ends = [*self._control.finditer(after, 0, same)]
        # The last message of gpt-oss ends with another control token than those before it.
        if not ends and self._control.match(before, same):
            ends = [*filter(None, [self._control.match(after, same)])]
        return (ends[-1].end(), ends[-1][0]) if ends else (len(after[:same].rstrip()), "")

    def _calls(self, new: Messages, called: Sequence[str]) -> list[Message]:
        """Return the calls that these results answer; templates as Gemma's find the name of a
        result by its id.
        """
        if not any(called):
            return []
        results = [each for each in new if each.get("role") == "tool"]
        ids = [each.get("tool_call_id", "call00000") for each in results] or ["call00000"]
        names = [*called, *[called[-1]] * (len(ids) - len(called))]
        return [
            {
                "id": self._each(id_),
                "type": "function",
                "function": {"name": self.safe(name), "arguments": {END: END}},
            }
            for id_, name in zip(ids, names, strict=False)
        ]

    def _around(self, new: Messages, tools: Messages, calls: Sequence[Message]) -> tuple[str, str]:
        """Return what is behind a message of the model where it is the last, and where others
        follow.
        """
        try:
            return self._behind(new, tools, calls)
        except EndpointError:
            if len(calls) < 2:
                raise
            return self._behind(new, tools, calls[:1])  # some templates write one call at a time

    def _behind(self, new: Messages, tools: Messages, calls: Sequence[Message]) -> tuple[str, str]:
        """Call ``_around`` for a message with these calls."""
        # Some templates write the content of a message behind the results of its calls, some write
        # no calls.
        for content in ("", END) if calls else (END,):
            said: dict[str, object] = {"role": "assistant", "content": content}
            said |= {"tool_calls": calls} if calls else {}
            talk: list[Message] = [{"role": "user", "content": "go on"}, said]
            before = self._text(talk, tools, goes_on=False).rpartition(END)
            if before[1]:
                after = self._text([*talk, *new], tools, goes_on=True).rpartition(END)
                _check_written(new, after[2])
                return before[2], after[2]
        raise ConfigError("the chat template does not write the assistant's messages")

    def _text(self, messages: Sequence[Message], tools: Sequence[Message], *, goes_on: bool) -> str:
        """The template takes arguments of calls as objects; some, as that of DeepSeek, as texts."""
        offered = [self._each(tool) for tool in tools] or None
        known: dict[str, object] = {**self.options, "tools": offered}
        told = ""
        for written in (messages, [*map(_with_texts, messages)]):
            try:
                known |= {"messages": written, "add_generation_prompt": goes_on}
                return self._template.render(**known)
            except Exception as error:  # noqa: BLE001 - a template is a program
                told = told or f"{type(error).__name__}: {error}"
        raise EndpointError(f"the chat template cannot write the conversation: {told:.300}")

    # -- texts -------------------------------------------------------------------------------------

    def encode(self, text: str) -> list[int]:
        """Return the ids of a rendered text; ``SPLIT`` marks where content must not be read
        together.
        """
        return [
            at
            for part in text.split(SPLIT)
            for at in self.tokenizer.encode(part, add_special_tokens=False).ids
        ]

    def safe(self, text: str) -> str:
        """Return content in which the tokenizer finds no control token."""
        plain = text.replace(SPLIT, "").replace(END, "").encode("utf-8", "replace").decode()
        made = self._control.sub(lambda found: found[0][:1] + SPLIT + found[0][1:], plain)
        return made if self._marks.isdisjoint(self.encode(made)) else SPLIT.join(made)

    @cached_property
    def _marks(self) -> frozenset[int]:
        """Return the control tokens that no content is; not the one for what the vocabulary does
        not hold.
        """
        unknown = getattr(self.tokenizer.model, "unk_token", None)
        return frozenset(at for at, each in self.special.items() if each != unknown)

    def _safe(self, message: Message) -> Message:
        """Return the message with safe contents, and arguments of calls as objects, which templates
        expect.
        """
        made = {key: self._each(value) for key, value in message.items() if key != "tool_calls"}
        calls = message.get("tool_calls")
        if isinstance(calls, Sequence):
            made["tool_calls"] = [self._called(each) for each in calls]
        return made

    def _called(self, found: object) -> Mapping[str, object]:
        function = mapping(mapping(found).get("function"))
        name = self.safe(str(function.get("name")))
        written = function.get("arguments")
        given = arguments_of(written)
        arguments = {"arguments": str(written)} if given is None else given
        return {**mapping(found), "function": {"name": name, "arguments": self._each(arguments)}}

    def _each(self, value: object) -> object:
        """Return the value with each text in it safe."""
        if isinstance(value, str):
            return self.safe(value)
        if isinstance(value, Mapping):
            return {self.safe(str(key)): self._each(v) for key, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._each(v) for v in value]
        return value


def _check_written(messages: Sequence[Message], text: str) -> None:
    """Some templates write no results of tools, so that the model would never see them."""
    for message in messages:
        words = re.findall(r"[A-Za-z0-9]+", str(message.get("content", "")))
        if max(words, key=len, default="") not in text:
            raise EndpointError(
                f"the chat template leaves out messages of the role {message.get('role')}"
            )


def _with_texts(message: Message) -> Message:
    calls = [
        {
            **each,
            "function": {**each["function"], "arguments": tojson(each["function"]["arguments"])},
        }
        for each in cast(
            "Sequence[Mapping[str, Mapping[str, object]]]", message.get("tool_calls", ())
        )
    ]
    return {**message, "tool_calls": calls} if calls else message


def load_renderer(folder: str | Path, template: str = "", **options: object) -> Renderer:
    """Load the tokenizer and the chat template of a model's folder, as Hugging Face lays it out.

    Args:
        folder: holds ``tokenizer.json``, ``tokenizer_config.json``, and ``chat_template.jinja`` or
            the template in the configuration.
        template: takes the place of the model's own.
        **options: further variables of the template.

    Raises:
        ConfigError: for a file that is missing or cannot be read, or a package that is not
            installed.
    """
    try:
        import jinja2  # noqa: F401 - for the template
        from tokenizers import Tokenizer
    except ImportError:
        raise ConfigError(
            "token ids need the packages tokenizers and jinja2: install the extra `tokens` of"
            " rlenv-plugin-agent"
        ) from None
    home = Path(folder)
    try:
        config = json.loads((home / "tokenizer_config.json").read_text("utf-8"))
        own = home / "chat_template.jinja"
        found = template or (own.read_text("utf-8") if own.exists() else config["chat_template"])
        tokenizer = Tokenizer.from_file(str(home / "tokenizer.json"))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ConfigError(f"{home}: no tokenizer with a chat template: {error}") from None
    except Exception as error:  # noqa: BLE001 - tokenizers raises Exception itself
        raise ConfigError(f"{home / 'tokenizer.json'}: {error}") from None
    if isinstance(found, list):  # several templates by name
        found = {each["name"]: each["template"] for each in found}["default"]
    marks = {key: _content(config.get(key)) for key in ("bos_token", "eos_token", "pad_token")}
    made = Renderer(tokenizer, found, {**marks, **options})
    made.check()
    return made


def _content(token: object) -> str:
    found = token.get("content") if isinstance(token, Mapping) else token
    return found if isinstance(found, str) else ""
