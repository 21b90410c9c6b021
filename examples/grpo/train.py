"""Train a random policy of two layers with TRL's GRPO and the reward of any rlenv environment, on
one CPU core.

python examples/grpo/train.py ENV [--seed N] [--steps N] [--audit] [--resume] [-o DIR]
"""

from __future__ import annotations

import os
import random
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
import torch
from curve import Curve, tenths
from datasets import Dataset
from overlap import Overlap
from policy import make_model, make_tokenizer
from rlenv import Environment, Task
from rlenv_train import ScoringEngine, trl_reward
from rubric import RubricState, evolving
from transformers import PrinterCallback, set_seed
from trl import GRPOConfig, GRPOTrainer

# prompts of a step, and responses to each
GROUPS = 10
SIZE = 16
torch.set_num_threads(1)  # more threads are slower for a model of this size


def audit_first(env: str) -> None:
    """Stop here unless ``rlenv audit`` finds nothing."""
    command = [sys.executable, "-m", "rlenv", "audit", "run", env, "--budget", "60s"]
    if status := subprocess.run(command, check=False).returncode:
        again = shlex.join(["python", *(word for word in sys.argv if word != "--audit")])
        text = f"rlenv audit ended with status {status}, so nothing was trained"
        raise click.ClickException(f"{text}. Fix the environment. To train on it anyway: {again}")


def make_rows(tasks: Sequence[Task], steps: int, seed: int) -> list[dict[str, str]]:
    """The prompts of all steps in one epoch, since TRL resumes exactly within an epoch only."""
    chance = random.Random(seed)
    found = list[dict[str, str]]()
    while len(found) < steps * GROUPS:
        drawn = chance.sample(tasks, len(tasks))
        found += [{"prompt": task.prompt, "id": str(task.id)} for task in drawn]
    return found[: steps * GROUPS]


def settings(out: Path, seed: int, steps: int, save_steps: int, tokens: int) -> GRPOConfig:
    """What is not TRL's default."""
    return GRPOConfig(
        output_dir=str(out),
        seed=seed,
        max_steps=steps,
        per_device_train_batch_size=GROUPS * SIZE,
        num_generations=SIZE,
        max_completion_length=tokens,
        shuffle_dataset=False,
        learning_rate=1e-3,
        lr_scheduler_type="constant",
        use_cpu=True,
        logging_steps=1,
        report_to=[],
        disable_tqdm=True,
        save_strategy="steps" if save_steps else "no",
        save_steps=save_steps or 1,
    )


@click.command()
@click.argument("env")
@click.option("--seed", default=0, show_default=True)
@click.option("--steps", default=250, show_default=True)
@click.option("--tokens", default=1, show_default=True, help="Length of a response at most.")
@click.option(
    "--rollout",
    type=click.Choice(["whole", "parts", "overlap"]),
    default="whole",
    show_default=True,
    help="Generate a step's responses at once, or group by group; overlap verifies meanwhile.",
)
@click.option(
    "--evolve-every",
    default=10,
    show_default=True,
    help="Steps between two versions of a rubric that evolves.",
)
@click.option("--save-steps", default=0, help="Keep a checkpoint every so many steps.")
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint in DIR.")
@click.option("--audit", is_flag=True, help="Audit ENV first; do not train if anything is found.")
@click.option(
    "-o", "out", default="out", type=click.Path(path_type=Path), metavar="DIR", show_default=True
)
def main(
    *,
    env: str,
    seed: int,
    steps: int,
    tokens: int,
    rollout: str,
    evolve_every: int,
    save_steps: int,
    resume: bool,
    audit: bool,
    out: Path,
) -> None:
    """Train on ENV, an installed environment or an env.toml; write DIR/curve.jsonl."""
    if audit:
        audit_first(env)
    os.environ["RLENV_RUBRICS"] = str(out.resolve() / "rubrics")
    set_seed(seed)
    with Environment.load(env) as loaded, ScoringEngine(loaded) as engine:
        train = [task for task in loaded.tasks if task.split == "train"]
        heldout = [task for task in loaded.tasks if task.split != "train"]
        if not train:
            raise click.ClickException(f"{env} has no task of the split 'train' to train on")
        tokenizer = make_tokenizer(task.prompt for task in loaded.tasks)
        reward = trl_reward(engine)
        callbacks = [Curve(out / "curve.jsonl", loaded, heldout, tokenizer)]
        if evolving(loaded):
            if rollout != "whole":
                raise click.UsageError("a rubric that evolves is for --rollout whole")
            callbacks.append(RubricState(reward, env, out.resolve(), evolve_every))
        parts = None
        if rollout != "whole":
            parts = Overlap(engine, tokenizer, SIZE, tokens, ahead=rollout == "overlap")
        trainer = GRPOTrainer(
            make_model(len(tokenizer)),
            parts.reward if parts else reward,
            settings(out, seed, steps, save_steps, tokens),
            Dataset.from_list(make_rows(train, steps, seed)),
            processing_class=tokenizer,
            callbacks=callbacks,
            rollout_func=parts.rollout if parts else None,
        )
        trainer.remove_callback(PrinterCallback)  # the curve has what matters
        started = time.perf_counter()
        cpu = time.process_time()
        trainer.train(resume_from_checkpoint=resume)
        wall = time.perf_counter() - started
        cpu = time.process_time() - cpu
        reward.close()
    print(f"{steps} steps: {wall:.1f} s, of which the trainer's process computed {cpu:.1f} s")
    print(tenths(out / "curve.jsonl"))


if __name__ == "__main__":
    main()
