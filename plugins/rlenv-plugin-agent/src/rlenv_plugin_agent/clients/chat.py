"""``endpoint``: a policy that asks an OpenAI-compatible ``/chat/completions``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypedDict, Unpack

from rlenv import ConfigError, Tokens

from rlenv_plugin_agent.messages import Message, Reply

from .reading import arguments_of, choice_of, mapping, message_of, sequence, tokens_of
from .server import JSON, Server

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
OURS = {"messages", "model", "n", "prompt", "stream", "tools"}  # what sampling does not set
# vLLM 0.11 and later (vllm/entrypoints/openai/chat_completion/protocol.py, at 002032ee):
# `return_token_ids` puts `prompt_token_ids` into the reply and `token_ids` into the choice; with
# `return_tokens_as_token_ids` the entries of `logprobs.content` name their ids, so that the two
# lists can be compared.
IDS = {"return_token_ids": True, "return_tokens_as_token_ids": True}


class Network(TypedDict, total=False):
    """Options that say how requests are sent; see ``Server``."""

    key_env: str
    timeout: float
    retries: int
    concurrency: int


class ChatPolicy:
    """A policy that asks for chat completions; ``endpoint`` makes one."""

    def __init__(self, server: Server, model: str, sampling: JSON, *, token_ids: bool) -> None:
        self.server = server
        self.model = model
        self.token_ids = token_ids
        wanted = {**IDS, "logprobs": True} if token_ids else {}
        self._fixed = {**check_sampling(sampling), "model": model, **wanted}

    async def __call__(self, messages: Sequence[Message], tools: Sequence[Message]) -> Reply:
        """Return the model's message, and its token ids where the server is asked for them."""
        body = {**self._fixed, "messages": [*map(_sent, messages)]}
        if tools:
            body["tools"] = [*tools]
        where = f"{self.server.url}/chat/completions"
        reply = await self.server.ask("/chat/completions", body)
        choice = choice_of(reply, where)
        return Reply(message_of(choice, where), _tokens(reply, choice) if self.token_ids else None)


def check_sampling(sampling: JSON) -> dict[str, object]:
    """Return parameters of sampling.

    Raises:
        ConfigError: for one that the policy sets itself.
    """
    if wrong := sorted(OURS & {*sampling}):
        raise ConfigError(f"sampling has no {', '.join(wrong)}: the policy sets it")
    return dict(sampling)


def _sent(message: Message) -> Message:
    """vLLM's templates read ``reasoning`` of an earlier turn, others ``reasoning_content``."""
    made = dict(message)
    if thought := message.get("reasoning_content"):
        made["reasoning"] = thought
    if calls := sequence(message.get("tool_calls")):
        made["tool_calls"] = [_acceptable_call(mapping(each)) for each in calls]
    return made


def _acceptable_call(call: Message) -> Message:
    """Return a call that servers accept: OpenAI rejects other names, vLLM arguments that are no
    object.

    Otherwise a policy could make its episode unscored by a call that no server takes.
    """
    function = mapping(call.get("function"))
    name = str(function.get("name"))
    written = function.get("arguments")
    if arguments_of(written) is None:
        written = json.dumps({"arguments": written})
    known = name if NAME.fullmatch(name) else re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "_"
    return {**call, "function": {"name": known, "arguments": written}}


def _tokens(reply: JSON, choice: Mapping[str, object]) -> Tokens:
    told = mapping(choice.get("logprobs")).get("content")
    content = None if told is None else [*map(mapping, sequence(told))]
    return tokens_of(
        reply.get("prompt_token_ids"),
        choice.get("token_ids"),
        content and [each.get("logprob") for each in content],
        names=content and [each.get("token") for each in content],
        usage=reply.get("usage"),
    )


def endpoint(
    url: str,
    model: str,
    *,
    sampling: JSON | None = None,
    token_ids: bool = False,
    **network: Unpack[Network],
) -> ChatPolicy:
    """Make a policy that asks any OpenAI-compatible server.

    Example:
        policy = endpoint("http://127.0.0.1:8000/v1", "Qwen/Qwen3-8B", sampling={"temperature":
        1.0}) rollout(env, task, policy)

    Args:
        url: up to ``/chat/completions``, which is appended.
        model: as the server names it.
        sampling: further fields of the request, as ``temperature`` or ``max_tokens``.
        token_ids: ask a vLLM server for the ids that it was given and sampled, which training
            needs.
        **network: ``key_env``, the environment variable that holds the key, "" by default;
            ``timeout``, the seconds of one try, 600 by default; ``retries`` of what may succeed in
            a moment (429, 5xx, a connection), 5 by default; ``concurrency``, requests in flight in
            one event loop, 64 by default.

    Returns:
        An async policy.  It raises ``ContextExceeded`` where the conversation is longer than the
        model's context, which ends the episode, and ``EndpointError`` where the server is broken.

    Raises:
        ConfigError: for an argument that cannot be used.
    """
    server = Server(url.rstrip("/").removesuffix("/chat/completions"), **network)
    return ChatPolicy(server, model, sampling or {}, token_ids=token_ids)
