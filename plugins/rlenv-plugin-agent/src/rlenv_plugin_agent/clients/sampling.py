"""``token_endpoint``: a policy that sends token ids and gets token ids, so that no text is
tokenized twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, Unpack

from attrs import field, frozen
from rlenv import ConfigError, Tokens

from rlenv_plugin_agent.messages import Message, Reply

from .chat import IDS, Network, check_sampling
from .errors import EndpointError
from .formats import FORMATS, format_of, message_in
from .reading import choice_of, mapping, sequence, text, tokens_of
from .render import Renderer, load_renderer
from .server import JSON, Server

Ids: TypeAlias = Sequence[int]
Wire: TypeAlias = Literal["vllm", "sglang"]


@frozen
class SampledIds:
    """An answer that a server gave.

    Args:
        tokens: that it was given and sampled.
        text: what it says that they are.
        stopped: the model ended its message; otherwise a limit did.
    """

    tokens: Tokens
    text: str
    stopped: bool


def _completions(model: str, ids: Ids, sampling: JSON) -> tuple[str, dict[str, object]]:
    """Return a request of vLLM (vllm/entrypoints/openai/completion/protocol.py, at 002032ee): a
    prompt may be ids; without ``max_tokens`` 16 tokens are sampled, with null as many as fit.
    """
    asked = {"model": model, "prompt": [*ids], "max_tokens": None, **sampling, "logprobs": 1}
    return "/completions", {**asked, **IDS, "skip_special_tokens": False}


def _of_completions(reply: JSON, _: Ids, where: str) -> SampledIds:
    choice = choice_of(reply, where)
    told = mapping(choice.get("logprobs"))
    found = tokens_of(
        choice.get("prompt_token_ids"),
        choice.get("token_ids"),
        told.get("token_logprobs"),
        names=told.get("tokens"),
        usage=reply.get("usage"),
    )
    return SampledIds(found, text(choice.get("text")), choice.get("finish_reason") == "stop")


def _generate(_: str, ids: Ids, sampling: JSON) -> tuple[str, dict[str, object]]:
    """Return a request of SGLang (python/sglang/srt/managers/io_struct.py, at 001067ff):
    ``GenerateReqInput``.  Without ``max_new_tokens`` 128 tokens are sampled, with null as many as
    fit.
    """
    asked = {"max_new_tokens": None, **sampling, "skip_special_tokens": False}
    if "max_tokens" in sampling:
        asked["max_new_tokens"] = asked.pop("max_tokens")
    return "/generate", {"input_ids": [*ids], "sampling_params": asked, "return_logprob": True}


def _of_generate(reply: JSON, ids: Ids, where: str) -> SampledIds:
    """``meta_info.output_token_logprobs`` holds (log-probability, id, text) of each sampled id."""
    meta = mapping(reply.get("meta_info"))
    reason = mapping(meta.get("finish_reason")).get("type")
    if reason == "abort":
        raise EndpointError(f"{where}: the server aborted the request")
    rows = [sequence(each) for each in sequence(meta.get("output_token_logprobs"))]
    rows = rows if all(len(each) >= 2 for each in rows) else []
    found = tokens_of(
        [*ids],
        reply.get("output_ids", [each[1] for each in rows]),
        [each[0] for each in rows],
        names=[f"token_id:{each[1]}" for each in rows],
        usage=meta,
    )
    return SampledIds(found, text(reply.get("text")), reason == "stop")


Request: TypeAlias = Callable[[str, Ids, JSON], tuple[str, dict[str, object]]]
WIRES: Mapping[str, tuple[Request, Callable[[JSON, Ids, str], SampledIds]]] = {
    "vllm": (_completions, _of_completions),
    "sglang": (_generate, _of_generate),
}


@frozen
class TokenPolicy:
    """A policy that sends ids; ``token_endpoint`` makes one.

    Args:
        server: that is asked.
        model: as the server names it.
        renderer: the model's tokenizer and chat template.
        wire: how the server is asked.
        sampling: further parameters of the request.
        calls: how the model writes calls of tools, "" for a model that calls none.
    """

    server: Server
    model: str
    renderer: Renderer
    wire: Wire = "vllm"
    sampling: JSON = field(factory=dict, converter=check_sampling)
    calls: str = ""

    def begin(self) -> Conversation:
        """Return the policy of one episode, which remembers the ids of its earlier calls."""
        return Conversation(self)

    async def __call__(self, messages: Sequence[Message], tools: Sequence[Message]) -> Reply:
        """Ask once, and remember nothing: the whole conversation is tokenized."""
        return await self.begin()(messages, tools)

    async def sample(self, ids: Ids) -> SampledIds:
        """Return what the model samples behind these ids; exact only where the server was given
        exactly them.
        """
        request, read = WIRES[self.wire]
        path, body = request(self.model, ids, self.sampling)
        where = self.server.url + path
        found = read(await self.server.ask(path, body), ids, where)
        tokens = found.tokens
        known = self.renderer.tokenizer.id_to_token
        exact = (
            tokens.exact
            and tokens.prompt_ids == tuple(ids)
            and all(at >> 32 == 0 and known(at) is not None for at in tokens.ids)
        )
        if not exact:
            return SampledIds(Tokens(ids, (), exact=False), found.text, found.stopped)
        return found


class Conversation:
    """One conversation with a model, in which every prompt begins with the ids of the call before.

    Where the history is another than what was said so far, or other tools are offered, it begins
    anew.
    """

    def __init__(self, policy: TokenPolicy) -> None:
        self._policy = policy
        self._said: list[object] = []
        self._tools: list[Message] = []
        self._ids: list[int] = []
        self._last = ""
        self._called: list[str] = []

    async def __call__(self, messages: Sequence[Message], tools: Sequence[Message]) -> Reply:
        """Return the model's message with the ids that it is made of."""
        prompt = self._prompt(messages, tools)
        found = await self._policy.sample(prompt)
        model = self._policy.renderer
        ids = found.tokens.ids
        written = found.text
        self._last = model.special.get(ids[-1], "") if ids and found.stopped else ""
        if ids:
            shown = ids[:-1] if ids[-1] in model.special else ids
            written = text(model.tokenizer.decode([*shown], skip_special_tokens=False))
        message = message_in(written, self._policy.calls if tools else "")
        self._said = [*map(_essence, (*messages, message))]
        self._tools = [*tools]
        self._ids = [*prompt, *ids] if ids else []
        self._called = _names(message)
        return Reply(message, found.tokens)

    def _prompt(self, messages: Sequence[Message], tools: Sequence[Message]) -> list[int]:
        held = len(self._said)
        renderer = self._policy.renderer
        same = [*map(_essence, messages[:held])] == self._said and [*tools] == self._tools
        if not (new := messages[held:]) or not self._ids or not same:
            return renderer.prompt(messages, tools)
        return [*self._ids, *renderer.following(new, tools, last=self._last, called=self._called)]


def _essence(message: Message) -> object:
    """Return what two messages that say the same have in common: ids of calls may differ."""
    if message.get("role") != "assistant":
        return dict(message)
    calls = [mapping(mapping(each).get("function")) for each in sequence(message.get("tool_calls"))]
    return message.get("content"), [(each.get("name"), each.get("arguments")) for each in calls]


def _names(message: Message) -> list[str]:
    """Return the names of the tools that a message calls."""
    calls = sequence(message.get("tool_calls"))
    return [str(mapping(mapping(each).get("function")).get("name")) for each in calls]


def token_endpoint(
    url: str,
    model: str,
    tokenizer: str | Path,
    *,
    wire: Wire = "vllm",
    template: str = "",
    options: JSON | None = None,
    calls: str = "",
    sampling: JSON | None = None,
    **network: Unpack[Network],
) -> TokenPolicy:
    """Make a policy that sends the ids of the conversation and gets the ids that the model sampled.

    What the model sampled is never tokenized again: the next prompt is the ids so far and the
    rendering of the new messages alone.  So all calls of an episode are one sequence to train on,
    whatever the template makes of history. Control tokens in contents, as ``<|im_start|>`` in the
    result of a tool, are encoded as plain text.

    Example:
        policy = token_endpoint("http://127.0.0.1:30000", "default", "models/Qwen3-8B",
        wire="sglang")

    Args:
        url: for vLLM up to ``/completions``, for SGLang up to ``/generate``.
        model: as the server names it.
        tokenizer: the model's folder, with ``tokenizer.json`` and ``tokenizer_config.json``.
        wire: ``vllm``: ``/v1/completions``; ``sglang``: ``/generate``.
        template: takes the place of the model's chat template.
        options: variables of the template, as ``{"enable_thinking": False}``.
        calls: how the model writes calls of tools, ``hermes``, ``mistral`` or ``llama``; by default
            as its template.
        sampling: further parameters, as ``temperature`` or ``max_tokens``; without the latter, as
            many as fit.
        **network: as for ``endpoint``.

    Raises:
        ConfigError: for an argument that cannot be used, or without the extra ``tokens``.
    """
    if wire not in WIRES:
        raise ConfigError(f"wire is vllm or sglang, not {wire!r}")
    renderer = load_renderer(tokenizer, template, **(options or {}))
    form = calls or format_of(renderer.template)
    if form and form not in FORMATS:
        raise ConfigError(f"calls is {', '.join(FORMATS)}, not {calls!r}")
    server = Server(url.rstrip("/"), **network)
    return TokenPolicy(
        server=server,
        model=model,
        renderer=renderer,
        wire=wire,
        sampling=sampling or {},
        calls=form,
    )
