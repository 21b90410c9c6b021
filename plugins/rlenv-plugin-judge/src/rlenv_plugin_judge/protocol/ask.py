"""One question to a judge, asked until there is a verdict or a fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlenv import ConfigError
from rlenv.text import read

from rlenv_plugin_judge.transport.errors import unavailable
from rlenv_plugin_judge.transport.request import Reply, Request, Transport, Usage

from .envelope import seal
from .logprobs import expected_of
from .verdict import Field, NoVerdict, Verdict, parse, schema

MAX_TOKENS = 2048  # of one reply: room to reason, and an end for those who go on and on
_TOP = 20


async def ask(
    client: Transport,
    *,
    instructions: str,
    material: Mapping[str, str],
    fields: Sequence[Field],
    key: bytes,
    want_logprobs: bool = False,
    attempts: int = 3,
    params: Mapping[str, Any] | None = None,
) -> Verdict:
    """Put untrusted ``material`` before a judge.

    A reply without a valid verdict (cut off, filtered, refused, in another form) is asked for again
    with a fresh nonce, ``attempts`` times in all.  From the second time on the server is asked to
    enforce the form (``response_format``), since small models lose the nonce; a server that knows
    no such thing is asked without.

    Args:
        instructions: trusted; what is to be judged and how.
        material: trusted name to UNTRUSTED text, shown as data in this order.
        fields: what the verdict must hold.
        key: at least 16 bytes, unpredictable to the policy and the same for the same call (law 5).
        want_logprobs: ask for log-probabilities; ``Verdict.estimator`` says whether they could be
            used.
        params: sampling parameters; the temperature is 0 unless they say otherwise.

    Raises:
        VerifierFault: there was no verdict; unscored, never 0.
        TooLong: the model's context cannot hold the material.
    """
    _check(fields, key, attempts)
    asked: list[Request] = []
    usage = Usage()
    why = ""
    if (turn := getattr(client, "turn", None)) is not None:
        await turn()
    for attempt in range(attempts):
        envelope = seal(instructions, material, fields, key, attempt)
        form = {"response_format": schema(fields, envelope.nonce)} if attempt else {}
        told = {**form, **_params(params, want_logprobs=want_logprobs)}
        request = Request("", envelope.messages, told)
        asked.append(request)
        reply = await client.send(request)
        usage += reply.usage
        try:
            return _verdict(reply, envelope.nonce, fields, usage, attempt + 1)
        except NoVerdict as err:
            why = str(err)
    forget(client, asked)
    message = f"the judge gave no valid verdict in {attempts} tries: {why}"
    raise unavailable(message, transient=True)


def _check(fields: Sequence[Field], key: bytes, attempts: int) -> None:
    if not fields or len({f.name for f in fields}) < len(fields):
        raise ConfigError("a verdict has at least one field, and no two of one name")
    if len(key) < 16 or attempts < 1:
        raise ConfigError("a judge's call has a key of at least 16 bytes and at least one attempt")


def _params(given: Mapping[str, Any] | None, *, want_logprobs: bool) -> dict[str, Any]:
    params: dict[str, Any] = {"temperature": 0, "max_tokens": MAX_TOKENS, **(given or {})}
    return {**params, "logprobs": True, "top_logprobs": _TOP} if want_logprobs else params


def _verdict(
    reply: Reply, nonce: str, fields: Sequence[Field], usage: Usage, attempts: int
) -> Verdict:
    cut = reply.finish in {"length", "content_filter", "refusal"}
    if not cut and not reply.text.strip():
        raise NoVerdict("the reply is empty")
    # A verdict that is complete counts, or a response that wants to be quoted at length would be
    # unscored.
    try:
        found = parse(after_thinking(reply.text, cut=cut), nonce, fields)
    except NoVerdict:
        if cut:
            raise NoVerdict(f"the reply ended by {reply.finish}") from None
        raise
    expected, estimator = expected_of(reply, nonce, fields, found.values)
    return Verdict(
        values=found.values,
        reason=found.reason,
        expected=expected,
        usage=usage,
        model=reply.model,
        endpoint=reply.endpoint,
        cached=reply.cached,
        attempts=attempts,
        estimator=estimator,
    )


def after_thinking(text: str, *, cut: bool = False) -> str:
    """What follows the thoughts that a server left in front of the answer.

    Marks behind that may be quotations.
    """
    pieces = read(text, "closed").pieces
    return text[pieces[0][0] :] if pieces else text * (not cut)


def forget(client: Transport, asked: Sequence[Request]) -> None:
    """Replies without a verdict stay cached only where a later one had one, so that a retry may
    help.
    """
    forgets = getattr(client, "forget", None)
    if forgets is not None:
        for request in asked:
            forgets(request)
