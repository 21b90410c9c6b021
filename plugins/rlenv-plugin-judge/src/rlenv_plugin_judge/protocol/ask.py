"""One question to a judge, asked until there is a verdict or a fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlenv_plugin_judge.transport.request import Transport

from .verdict import Field, Verdict


async def ask(
    client: Transport,
    *,
    instructions: str,
    material: Mapping[str, str],
    fields: Sequence[Field],
    key: bytes,
    want_logprobs: bool = False,
    attempts: int = 3,
) -> Verdict:
    """Put untrusted ``material`` before a judge.

    Args:
        instructions: trusted; what is to be judged and how.
        material: name to UNTRUSTED text, shown as data in this order.
        key: unpredictable to the policy and the same for the same call (law 5).

    Raises:
        VerifierFault: there was no verdict; unscored, never 0.
        TooLong: the model's context cannot hold the material.
    """
    raise NotImplementedError
