"""A conversation with a policy, as an episode leads it."""

from __future__ import annotations

import asyncio

from rlenv import Trajectory, Verdict
from rlenv_plugin_agent.messages import assistant, calls_of
from rlenv_plugin_agent.rollouts.samples import samples_of
from token_model import encode, end_of, split

TOOL = {"type": "function", "function": {"name": "user", "description": "", "parameters": {}}}


def play(policy, answers, tools=(TOOL,), question="use hello"):
    """The trajectory of one conversation: after each message of the policy but the last comes an
    answer.
    """
    return asyncio.run(aplay(policy, answers, tools, question))


async def aplay(policy, answers, tools=(TOOL,), question="use hello"):
    messages = [{"role": "user", "content": question}]
    tokens = []
    policy = policy.begin() if hasattr(policy, "begin") else policy
    for turn in range(len(answers) + 1):
        reply = await policy([{**each} for each in messages], [*tools])
        messages.append(assistant(reply.message, turn))
        tokens.append(reply.tokens)
        if turn < len(answers):
            messages += answered(messages[-1], answers[turn])
    return Trajectory(messages, [each for each in tokens if each])


def answered(message, answer):
    """What the episode says to a message: of a tool where one was called, else of the user."""
    called = calls_of(message)
    if not called:
        return [{"role": "user", "content": answer}]
    return [{"role": "tool", "tool_call_id": each["id"], "content": answer} for each in called]


def script(wires, template, *texts, end=True):
    """The model says these texts in turn, ``hello`` as ``he|llo``."""
    ends = encode(end_of(template)) if end else []
    turns = [[*split(text), *ends] for text in texts]
    wires.template = template
    wires.sample = lambda ids: turns.pop(0)
    return [*turns]


def samples(trajectory):
    return samples_of(trajectory, Verdict(1.0, ()))


def credited(found):
    """The ids with mask 1, sample by sample."""
    return [[at for at, one in zip(each.ids, each.mask, strict=True) if one] for each in found]
