"""A rubric that evolves while the policy trains, kept with the trainer's checkpoints."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from rlenv import Attempt, ConfigError, Environment, Task, Verdict, hookimpl
from rlenv.authoring import File
from rlenv_plugin_judge.stages.evolving import Evolving
from rlenv_train.trl import TrlReward
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

__all__ = ["RubricState", "evolving"]

VERSIONS = "rubrics"
SCORES = "scores.jsonl"


def evolving(env: Environment) -> Evolving | None:
    """The stage of an environment that evolves, if it has one."""
    return next((slot.stage for slot in env.slots if isinstance(slot.stage, Evolving)), None)


class RubricState(TrainerCallback):
    """Lets a rubric evolve every few steps; saves and restores it with the trainer's state.

    A version scores until the next one is there; then the environment is loaded anew.
    ``scores.jsonl`` has each score of the training and the version of the rubric that gave it.

    Args:
        reward: whose environment it is.
        env: the path or the name of the environment.
        folder: where ``rubrics``, the store of the stage, and ``scores.jsonl`` are.
        every: steps between two versions.
    """

    def __init__(self, reward: TrlReward, env: str, folder: Path, every: int) -> None:
        self.reward = reward
        self.name = env
        self.folder = folder
        self.every = every
        self.step = 0
        self.groups = dict[str, list[Attempt]]()

    def on_train_begin(
        self, _args: TrainingArguments, state: TrainerState, _control: TrainerControl, **_: object
    ) -> None:
        """Restore what the checkpoint holds, or begin with the rubric that a person wrote."""
        stage = evolving(self.reward.env)
        if stage is None or File(stage.store).path != self.folder / VERSIONS:
            raise ConfigError(
                f'{self.name}: give its stage store = "${{RLENV_RUBRICS}}", a folder of this run'
            )
        shutil.rmtree(self.folder / VERSIONS, ignore_errors=True)
        (self.folder / SCORES).unlink(missing_ok=True)
        if state.global_step:
            saved = self._saved(state)
            if not (saved / SCORES).exists():
                raise ConfigError(f"{saved} is incomplete: remove {saved.parent}, and resume again")
            shutil.copytree(saved, self.folder, dirs_exist_ok=True)
        self.step = state.global_step
        self._load()

    def on_step_end(
        self, _args: TrainingArguments, state: TrainerState, _control: TrainerControl, **_: object
    ) -> None:
        """Write the next versions, one for each group of this step."""
        if state.global_step % self.every == 0 and (stage := evolving(self.reward.env)):
            for _, group in sorted(self.groups.items()):
                stage.evolve(group)
            self._load()
        self.step = state.global_step
        self.groups = {}

    def on_save(
        self, _args: TrainingArguments, state: TrainerState, _control: TrainerControl, **_: object
    ) -> None:
        """Put versions and scores into the checkpoint, the scores last."""
        saved = self._saved(state)
        if (self.folder / VERSIONS).exists():
            shutil.copytree(self.folder / VERSIONS, saved / VERSIONS)
        saved.mkdir(exist_ok=True)
        shutil.copy(self.folder / SCORES, saved / SCORES)

    @hookimpl
    def rlenv_verdict(self, task: Task, response: str, verdict: Verdict) -> None:
        """Keep a score with the version that gave it."""
        self.groups.setdefault(str(task.id), []).append(Attempt(task, response))
        row = {
            "step": self.step + 1,
            "task": task.id,
            "response": response,
            "reward": verdict.value,
        }
        outcome = verdict.results[0].outcome
        version = outcome.data.get("rubric_version") if outcome else None
        with (self.folder / SCORES).open("a") as file:
            file.write(json.dumps({**row, "rubric": version}) + "\n")

    def _load(self) -> None:
        """Score by the latest version from now on."""
        self.reward.env.close()
        new = Environment.load(self.name)
        self.reward.env = Environment(
            new.name,
            new.root,
            new.tasks,
            pass_mark=new.pass_mark,
            thinking=new.thinking,
            observers=[self],
        )

    def _saved(self, state: TrainerState) -> Path:
        return self.folder / f"checkpoint-{state.global_step}" / "rubric"
