"""Episodes and verdicts as spans of a trace, made from what they hold when they have ended.

A span says how long something took and what came of it.  It has no text of the policy, the task, a
tool, a stage or a fault, and so no ground truth.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from attrs import frozen
from rlenv import StageResult, Verdict

from rlenv_plugin_agent.episodes.episode import Episode
from rlenv_plugin_agent.episodes.steps import Turn
from rlenv_plugin_agent.tools.observations import Call


@frozen
class Span:
    """One span with those inside it, each after the last one as far as there is room, and else side
    by side.

    Args:
        name: what it is, as ``turn`` or ``execute_tool search``.
        seconds: how long it took.
        about: attributes, named as OpenTelemetry does where it has a name, and else ``rlenv.*``;
            None: it is unknown.
        error: the kind of the fault, or of the tool's error; "" without.
        children: the spans inside it.
    """

    name: str
    seconds: float
    about: Mapping[str, object]
    error: str = ""
    children: Sequence[Span] = ()


def episode_span(episode: Episode) -> Span:
    """Return an episode that has ended as a span, with one for each turn and one for its verdict.

    What subagents did is in the call that started them: the log of an episode has no times of it.
    """
    assert episode.verdict is not None
    verdict = verdict_span(episode.verdict)
    about = {
        "gen_ai.operation.name": "invoke_agent",
        "rlenv.stop": episode.stop,
        "rlenv.seed": str(episode.seed),
    }
    parts = [*(_turn(*pair, episode.named) for pair in enumerate(episode.trace)), verdict]
    return Span(
        "episode",
        sum(each.seconds for each in parts),
        {**verdict.about, **about},
        verdict.error,
        parts,
    )


def _turn(number: int, turn: Turn, tools: Container[str]) -> Span:
    tokens = "gen_ai.usage.output_tokens" if turn.exact else "rlenv.tokens.estimated"
    policy = Span("chat", turn.waited, {"gen_ai.operation.name": "chat", tokens: turn.tokens})
    parts = [policy, *(_call(each, tools) for each in turn.calls)]
    return Span("turn", turn.waited + turn.seconds, {"rlenv.turn": number}, "", parts)


def _call(call: Call, tools: Container[str]) -> Span:
    name = call.tool if call.tool in tools else None  # else it may be any text of the policy
    about = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.name": name,
    }
    return Span(f"execute_tool {name or ''}".rstrip(), call.seconds, about, call.error)


def verdict_span(verdict: Verdict) -> Span:
    """Return a verdict as a span: its stages, and theirs."""
    stages = [*map(_stage, verdict.results)]
    about = {
        "rlenv.reward": verdict.value,
        "rlenv.stopped_at": verdict.stopped_at,
        "rlenv.fingerprint": verdict.fingerprint,
    }
    error = ""
    if not verdict.scored:
        error = verdict.fault.kind if verdict.fault else "error"
    return Span("verdict", sum(each.seconds for each in stages), about, error, stages)


def _stage(result: StageResult) -> Span:
    score = result.outcome.score if result.outcome else None
    about = {"gen_ai.evaluation.name": result.stage, "gen_ai.evaluation.score.value": score}
    error = result.fault.kind if result.fault else ""
    return Span(
        f"stage {result.stage}", result.seconds, about, error, [*map(_stage, result.children)]
    )
