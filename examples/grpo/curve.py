"""The curve of a run: a JSON line for each step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from policy import generate
from rlenv import Environment, Task
from transformers import (
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

__all__ = ["Curve", "tenths"]

EVERY = 5  # steps between two looks at the held-out tasks
SHOWN = 25  # steps between two lines on the terminal


class Curve(TrainerCallback):
    """Writes reward and share of unscored responses of each step; at some, the held-out reward.

    The held-out reward is that of the likeliest response to each held-out task.

    Args:
        path: the file; lines after the step that training resumes from are dropped.
        env: what judges the held-out responses.
        heldout: the tasks.
        tokenizer: of the policy.
    """

    def __init__(
        self,
        path: Path,
        env: Environment,
        heldout: Sequence[Task],
        tokenizer: PreTrainedTokenizerFast,
    ) -> None:
        self.path = path
        self.env = env
        self.heldout = heldout
        self.tokenizer = tokenizer

    def on_train_begin(
        self, _args: TrainingArguments, state: TrainerState, _control: TrainerControl, **_: object
    ) -> None:
        """Begin the file, or keep its lines up to this step."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.path.write_text("".join(f"{line}\n" for line in lines[: state.global_step]))

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        _control: TrainerControl,
        logs: Mapping[str, float],
        model: LlamaForCausalLM,
        **_: object,
    ) -> None:
        """Add a line."""
        if "rlenv/unscored" not in logs:  # the last log is about the whole run
            return
        row = {"step": state.global_step, "reward": logs.get("rlenv/reward")}
        row["unscored"] = logs["rlenv/unscored"]
        if self.heldout and state.global_step % EVERY == 0:
            row["heldout"] = self._heldout(model, args.max_completion_length)
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        if state.global_step % SHOWN == 0:
            print(
                f"step {state.global_step}: reward {row['reward']}, held out {row.get('heldout')}"
            )

    def _heldout(self, model: LlamaForCausalLM, tokens: int) -> float | None:
        prompts = [task.prompt for task in self.heldout]
        _, ids = generate(model, self.tokenizer, prompts, tokens, sample=False)
        texts = self.tokenizer.batch_decode(ids, skip_special_tokens=True)
        verdicts = self.env.evaluate_many(zip(self.heldout, texts, strict=True))
        values = [verdict.value for verdict in verdicts if verdict.value is not None]
        return fmean(values) if values else None


def tenths(path: Path) -> str:
    """The means of the first and of the last tenth of a curve."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    many = max(1, len(rows) // 10)
    return "\n".join(
        f"{key}: {_mean(rows[:many], key)} in the first tenth of the steps,"
        f" {_mean(rows[-many:], key)} in the last"
        for key in ("reward", "unscored", "heldout")
    )


def _mean(rows: Sequence[Mapping[str, float | None]], key: str) -> str:
    found = [value for row in rows if (value := row.get(key)) is not None]
    return f"{fmean(found):.3f}" if found else "none"
