"""A step as the journal keeps it, and the end of an episode as metrics and traces have it."""

from __future__ import annotations

from rlenv_plugin_agent.rollouts.spans import episode_span

from rlenv_serve.http.problems import Problem
from rlenv_serve.metrics import Metrics
from rlenv_serve.state.journal import JournaledStep

from .actions import Action
from .answers import Answer
from .session import Session

LARGEST = 32 << 20  # bytes of the answer to one step


def step_of(answer: Answer, action: Action, key: str) -> JournaledStep:
    """Make the step that the journal keeps.

    Args:
        answer: to the step.
        action: of the policy.
        key: the idempotency key of the request, "" without.

    Raises:
        Problem: 500 for an answer that is too large.
    """
    taken = JournaledStep(answer.number, action.to_json(), answer.to_json(), key)
    if len(taken.answer) > LARGEST:
        raise Problem(
            500,
            "answer_too_large",
            f"the environment answered with {len(taken.answer):,} bytes, and at most"
            f" {LARGEST:,} are taken: it was not taken",
        )
    return taken


def report_end(session: Session, metrics: Metrics) -> None:
    """Count an episode that has ended, and write its trace.

    Args:
        session: of the episode.
        metrics: of the server.
    """
    if session.episode.verdict is None:
        return
    metrics.verdict(session.served.name, session.episode.verdict)
    if metrics.trace is None:
        return
    about = {
        "gen_ai.agent.name": session.begun.agent or None,
        "gen_ai.conversation.id": session.id,
        "rlenv.environment": session.served.name,
        "rlenv.task.id": session.begun.task,
        "rlenv.tenant": session.begun.tenant or None,
    }
    metrics.trace(episode_span(session.episode), about)
