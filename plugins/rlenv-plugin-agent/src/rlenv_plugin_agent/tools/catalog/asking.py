"""``ask_user``: a question to whoever gave the task."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from inspect import isawaitable

from attrs import frozen

from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.tool import tool

SILENCE = "I have nothing to add."


@frozen
class Respondent:
    """Answers ``ask_user``.

    Args:
        answer: a question to its answer; quick, or async: it runs on the loop of the episode.
    """

    answer: Callable[[str], str | Awaitable[str]]

    @classmethod
    def scripted(cls, answers: Iterable[str]) -> Respondent:
        """Make one that gives these answers in order, and then has nothing to add."""
        left = iter(answers)
        return cls(lambda _: next(left, SILENCE))


@tool(category="interaction", timeout=120.0)
async def ask_user(context: ToolContext, question: str) -> str:
    """Ask the user a question.

    Args:
        context: of the episode; the policy does not give it.
        question: one that the task leaves open.
    """
    answer = context.get(Respondent).answer(question)
    return await answer if isawaitable(answer) else answer
