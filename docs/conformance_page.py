"""The page on what trainers make of a response that has no score, from the recorded runs of its
scripts.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tables import head, row

FOLDER = Path("contrib/rlenv-train/tests/conformance")
RESULTS = Path(__file__).resolve().parents[1] / FOLDER / "results.json"
CASES = {
    "None": "returns `None`",
    "nan": "returns `nan`",
    "inf": "returns `inf`",
    "1e9": "returns `1e9`",
    "raises": "raises `ConnectionError`",
    "hangs": "sleeps 3 s, then returns 1",
}
TABLE = Path(__file__).resolve().parents[1] / "requirements/trainers/environments.toml"
INTRO = """A verifier can break: its sandbox is gone, its judge times out, its parser divides by
zero. What the policy learns from such a response depends on the trainer. This page shows what each
makes of it, without rlenv and through rlenv. Each cell is the printed result of a run.

A group has four responses. The first is right (1), the second and fourth are wrong (0), and the
verifier breaks on the third, in six ways. The third should have no influence: with GRPO, the
advantages are then **1.155, −0.577, 0, −0.577**, those of the other three alone. Advantages of 1.5,
−0.5, −0.5, −0.5 mean that the third response counts as wrong, and the policy is trained away from a
response that nobody judged.

A user of NeMo Gym reported what this does to a run: 1,172 of 1,280 rollouts (91.6 %) failed when
their session was reset, and entered GRPO as 0
([NVIDIA-NeMo/Gym #2552](https://github.com/NVIDIA-NeMo/Gym/pull/2552)). TRL fixed the same fault
for a single reward function
([huggingface/trl #5902](https://github.com/huggingface/trl/pull/5902)), and a slow grader
froze jobs of verl ([verl-project/verl #6673](https://github.com/verl-project/verl/pull/6673)).

“Next to another” means that the framework has a second reward, which is 1 for each response.
Through rlenv, the verifier is a stage in a worker with a deadline of 1 second. “Ends the run” means
that the exception reached the caller.
"""
READ = (
    (
        "OpenRLHF 3c3be623",
        "an exception in `reward_func`",
        (
            "is logged, and the reward stays `None`; if it is that of the first sample of a batch,"
            " the batch asks for a reward model"
        ),
        "openrlhf/utils/agent.py:298, openrlhf/trainer/ppo_utils/experience_maker.py:139",
    ),
    (
        "slime 624b824a8",
        "an exception in `custom_rm`",
        (
            "reaches the rollout; `remove_sample` takes a sample out of the loss, but not out of"
            " the mean of its group"
        ),
        "slime/rollout/rm_hub/\\_\\_init\\_\\_.py:63, slime/utils/arguments.py:1437",
    ),
    (
        "AReaL 4aef98d8d",
        "a timeout (15 s)",
        "is tried four times, then the reward is 0",
        "areal/api/reward_api.py:170",
    ),
    (
        "AReaL 4aef98d8d",
        "an exception",
        "is tried four times, then raised",
        "areal/api/reward_api.py:202",
    ),
    (
        "verifiers 0.4.0, its OpenEnv task set",
        "a reward of `None`",
        "is 0",
        "verifiers/v1/tasksets/openenv/taskset.py:129",
    ),
)


def conformance() -> Iterator[str]:
    found: Mapping[str, Any] = json.loads(RESULTS.read_text("utf-8"))
    yield "# What trainers make of a response without a score"
    yield INTRO
    for name, environment in tomllib.loads(TABLE.read_text("utf-8")).items():
        if "title" in environment:
            yield from _framework(name, environment["title"], found[name])
    yield "## Read, not run"
    yield (
        "These could not be installed next to the tests. The lines were read in their published"
        " source.\n"
    )
    yield from head("project", "the verifier", "the trainer", "READ")
    yield from (row(*cells) for cells in READ)
    yield "\nNot looked at: lighteval, lm-eval, ART, tinker, and prime-rl beyond verifiers."
    yield "\n## How to reproduce it"
    yield (
        f"`make conformance` builds the environments, runs the scripts with `{FOLDER}/run.py`, and"
        " writes"
    )
    yield (
        "`results.json`, from which `docs/generate.py` makes this page. The seconds differ from run"
        " to run."
    )


def _framework(name: str, title: str, run: Mapping[str, Any]) -> Iterator[str]:
    script = f"{FOLDER}/with_{name}.py"
    versions = ", ".join(f"{package} {number}" for package, number in run["versions"].items())
    yield f"## {title}"
    yield (
        f"Script: [`with_{name}.py`](../../{script}), exit status {run['status']}. Versions:"
        f" {versions}.\n"
    )
    cells: Sequence[Mapping[str, str]] = run["cells"]
    modes = list(dict.fromkeys(cell["mode"] for cell in cells))
    results = {(cell["case"], cell["mode"]): cell["result"] for cell in cells}
    yield from head("the verifier", *modes)
    for case, said in CASES.items():
        yield row(said, *(results[case, mode] for mode in modes))
    yield ""
