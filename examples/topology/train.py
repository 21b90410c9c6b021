"""Train in three kinds of processes: this trainer, an inference server, and several environments,
one of which is killed.

    python examples/topology/train.py [ENVIRONMENTS] [STEPS] [SEED]

Rewards are asked for in batches, from all environments at the same time. An environment that does
not answer is replaced, and its batch goes to another, so every response has its reward.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue
from statistics import fmean, pstdev

from inference import probabilities
from service import ask

HERE = Path(__file__).parent
# responses of a prompt, rows of a request, learning rate
GROUP = 8
BATCH = 16
RATE = 0.6
PROMPTS = [f"Copy {digit}." for digit in range(10)]


@contextmanager
def service(name: str, *words: object) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process of this folder and its port; it is killed at the end."""
    argv = [sys.executable, HERE / name, *map(str, words)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


class Environments:
    """So many environments; each is asked for one batch at a time."""

    def __init__(self, stack: ExitStack, count: int) -> None:
        self.stack = stack
        self.replaced = 0
        self.free: SimpleQueue[tuple[subprocess.Popen[str], int]] = SimpleQueue()
        self.pool = stack.enter_context(ThreadPoolExecutor(count))
        for _ in range(count):
            self.free.put(stack.enter_context(service("environment.py")))

    def rewards(self, rows: list[tuple[str, str]]) -> list[float | None]:
        batches = [rows[at : at + BATCH] for at in range(0, len(rows), BATCH)]
        return [reward for found in self.pool.map(self._verify, batches) for reward in found]

    def _verify(self, batch: list[tuple[str, str]]) -> list[float | None]:
        while True:
            process, port = self.free.get()
            try:
                found = ask(port, "/verify", batch)
            except OSError:
                process.kill()
                self.replaced += 1
                self.free.put(self.stack.enter_context(service("environment.py")))
            else:
                self.free.put((process, port))
                return found

    def kill_one(self) -> None:
        process, port = self.free.get()
        process.kill()
        process.wait()
        self.free.put((process, port))


def learn(logits: list[float], group: list[str], rewards: list[float | None]) -> list[float]:
    """A step of policy gradient with the advantages of GRPO; unscored responses take no part."""
    scored = [
        (int(text), reward)
        for text, reward in zip(group, rewards, strict=True)
        if reward is not None
    ]
    values = [reward for _, reward in scored]
    if len(set(values)) < 2:
        return logits
    mean = fmean(values)
    deviation = pstdev(values)
    before = probabilities(logits)
    for digit, reward in scored:
        advantage = RATE * (reward - mean) / (deviation * len(scored))
        logits = [at + advantage * ((n == digit) - before[n]) for n, at in enumerate(logits)]
    return logits


def main(count: int = 3, steps: int = 120, seed: int = 0) -> None:
    table = {prompt: [0.0] * 10 for prompt in PROMPTS}
    verified = 0
    with ExitStack() as stack:
        _, policy = stack.enter_context(service("inference.py", seed))
        environments = Environments(stack, count)
        for step in range(1, steps + 1):
            groups = ask(policy, "/generate", {"prompts": PROMPTS, "n": GROUP})
            rows = [
                (prompt, text)
                for prompt, group in zip(PROMPTS, groups, strict=True)
                for text in group
            ]
            if step == steps // 2:
                environments.kill_one()
            rewards = environments.rewards(rows)
            verified += len(rewards)
            for n, (prompt, group) in enumerate(zip(PROMPTS, groups, strict=True)):
                table[prompt] = learn(table[prompt], group, rewards[n * GROUP : (n + 1) * GROUP])
            ask(policy, "/weights", table)
            if step in (1, steps) or step % 20 == 0:
                mean = fmean(reward for reward in rewards if reward is not None)
                print(f"step {step}: mean reward {mean:.2f}", flush=True)
    print(
        f"{verified} rewards for {steps * len(PROMPTS) * GROUP} responses, {environments.replaced}"
        " environment replaced"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
