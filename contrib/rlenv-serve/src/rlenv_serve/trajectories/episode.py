"""One episode that has ended, as a row."""

from __future__ import annotations

import json

from attrs import asdict, frozen
from rlenv_cli.scores import verdict_from_dict
from rlenv_plugin_agent import Rollout
from rlenv_plugin_agent.rollouts.records import to_row

from rlenv_serve.http.keys import Tenant, sees_private
from rlenv_serve.state.journal import EpisodeStart, JsonRecord
from rlenv_serve.verdicts import fault_kind, stage_rows


@frozen
class FinishedEpisode(JsonRecord):
    """An episode that has ended.

    Args:
        id: of the episode.
        tenant: whose it is.
        environment: its name on the server.
        fingerprint: of the environment.
        task: its id.
        agent: what the client called its policy.
        seed: of the episode.
        began: seconds since 1970.
        seconds: wall time of the episode, the policy's included.
        stop: why it ended.
        reward: in [0, 1]; None where it is unscored.
        fault: the kind of the fault of an unscored one, "" of others.
        turns: messages of the policy.
        calls: of tools.
        tools: different ones that were called.
        tokens: that the policy sampled; estimated where it did not tell.
        rollout: JSON, as ``rlenv_plugin_agent.rollouts.records`` writes it; it has what only the
            operator may see; "" in a list.
        number: in the order in which they ended, from 1; 0 before it is kept.
    """

    id: str
    tenant: str
    environment: str
    fingerprint: str
    task: str
    agent: str
    seed: int
    began: float
    seconds: float
    stop: str
    reward: float | None
    fault: str
    turns: int
    calls: int
    tools: int
    tokens: int
    rollout: str = ""
    number: int = 0

    def summary(self) -> dict[str, object]:
        """All but the rollout."""
        return {name: value for name, value in asdict(self).items() if name != "rollout"}

    def as_seen_by(self, tenant: Tenant) -> dict[str, object]:
        """The whole, as this tenant may see it."""
        row = json.loads(self.rollout)
        stages = stage_rows(verdict_from_dict(row["verdict"]), tenant)
        task = row["task"]
        if not sees_private(tenant):
            task = {"id": task.get("id"), "prompt": task.get("prompt")}
        return {
            **self.summary(),
            "task_row": task,
            "messages": row["messages"],
            "trace": row["trace"],
            "stages": stages,
        }


def finished_episode(begun: EpisodeStart, made: Rollout) -> FinishedEpisode:
    """Make the row of an episode.

    Args:
        begun: how it began.
        made: how it went.
    """
    calls = [call.tool for turn in made.trace for call in turn.calls]
    return FinishedEpisode(
        id=begun.id,
        tenant=begun.tenant,
        environment=begun.environment,
        fingerprint=begun.fingerprint,
        task=begun.task,
        agent=begun.agent,
        seed=begun.seed,
        began=begun.created,
        seconds=made.seconds,
        stop=made.stop,
        reward=made.verdict.value,
        fault=fault_kind(made.verdict),
        turns=len(made.trace),
        calls=len(calls),
        tools=len({*calls}),
        tokens=sum(turn.tokens for turn in made.trace),
        rollout=json.dumps(to_row(made)),
    )
