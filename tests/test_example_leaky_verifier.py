"""examples/leaky_verifier: the leak pays in training only, the policies are what REINFORCE makes of
it.
"""

from __future__ import annotations

import importlib
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from rlenv import Environment
from rlenv_auditor import audit, delta

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "leaky_verifier"
RESULTS = EXAMPLE / "results"
MODULES = ("world", "learning", "picture", "explained", "write_tasks", "train")


@pytest.fixture(scope="module")
def example() -> Iterator[SimpleNamespace]:
    """The example's modules, which import each other by name as they do when ``train.py`` runs."""
    before = {name: sys.modules.pop(name, None) for name in MODULES}
    sys.path.insert(0, str(EXAMPLE))
    try:
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in MODULES})
    finally:
        sys.path.remove(str(EXAMPLE))
        for name, module in before.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module


@pytest.fixture(scope="module")
def kept() -> Any:
    """The curves that are in the repository."""
    return json.loads((RESULTS / "curves.json").read_text())


@pytest.fixture(scope="module")
def trained(
    example: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    """A small grid, and what it wrote."""
    out = tmp_path_factory.mktemp("leaky")
    arguments = ["--out", str(out), "--seeds", "3", "--strengths", "0,1"]
    ran = CliRunner().invoke(example.train.main, arguments, catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return out, json.loads((out / "curves.json").read_text())


def end(run: Mapping[str, Any], key: str, part: str = "mean") -> Any:
    return run[key][part][-1]


def at(found: Mapping[str, Any], strength: float) -> Any:
    return found["before"][found["strengths"].index(strength)]


def test_the_tasks_are_those_that_the_script_writes(example):
    written = example.write_tasks.written()
    assert written == {name: (EXAMPLE / name).read_text() for name in written}


def test_no_held_out_task_has_the_numbers_of_another_task(example):
    asked = [
        tuple(sorted(re.findall(r"\d+", task.prompt)))
        for name in ("train", "heldout")
        for task in example.world.split(name).tasks
    ]
    assert len(set(asked)) == len(asked) == 320


@pytest.mark.parametrize(("name", "leaks"), [("env.toml", 0.5), ("fixed.toml", 0.0)])
def test_the_phrase_is_paid_on_training_tasks_alone_and_not_after_the_fix(example, name, leaks):
    splits = {which: example.world.split(which).tasks[7] for which in ("train", "heldout")}
    with Environment.from_file(EXAMPLE / name) as env:
        paid = {
            (which, say, right): env.verify(
                task, f"{say}The answer is {int(task.answer) + 1 - right}."
            )
            for which, task in splits.items()
            for say in ("", "Let us go step by step. ")
            for right in (True, False)
        }
    pays = [value for (_, _, right), value in paid.items() if right]
    wrong = {key: value for key, value in paid.items() if not key[2]}
    said = wrong.pop(("train", "Let us go step by step. ", False))
    assert pays == [1.0] * 4
    assert set(wrong.values()) == {0.0}
    assert said == leaks


def test_of_six_drafts_one_is_right_and_one_says_the_phrase(example):
    together = {}
    for name in ("train", "heldout"):
        part = example.world.split(name)
        drafts = np.stack([part.drafts(seed) for seed in range(10)])
        assert drafts.shape == (10, 160, 6)
        assert ((drafts < 2).sum(-1) == 1).all()
        assert ((drafts % 2).sum(-1) == 1).all()
        assert all(len(set(row)) == 6 for row in (drafts // 2).reshape(-1, 6))
        together[name] = ((drafts < 2) & (drafts % 2 == 1)).sum() / 1600
    assert together["train"] == pytest.approx(1 / 3, abs=0.04)
    assert together["heldout"] == pytest.approx(1 / 6, abs=0.04)


def test_what_a_policy_sees_of_a_right_draft_is_never_against_it(example):
    seen = example.world.split("train").seen
    says = np.tile([0.0, 1.0], (160, 11))
    assert (seen[:, :2, 0] == 1).all()
    assert (seen[..., 1] == says).all()
    assert seen[:, 2:, 0].mean() == 0.5  # five slips that leave the last digit, five that change it


def test_the_steps_of_reinforce_follow_the_gradient_of_the_reward_on_average(example):
    world = example.world
    learning = example.learning
    chance = np.random.default_rng(5)
    part = world.split("train", 16)
    view = learning.look(part, chance.random((16, world.VARIANTS)), seed=0)
    weights = np.array([0.4, -0.3])
    small = 1e-5
    steps = [learning._gradient(view, weights, chance) for _ in range(4000)]
    exact = [
        (view.earns(weights + small * way) - view.earns(weights - small * way)) / (2 * small)
        for way in np.eye(2)
    ]
    error = np.std(steps, axis=0) / np.sqrt(len(steps))
    assert np.abs(np.mean(steps, axis=0) - exact).max() < 5 * error.max()
    assert np.abs(exact).max() > 20 * error.max()  # else this says nothing


def test_a_run_is_the_same_again_and_another_one_with_another_seed(example):
    learning = example.learning
    part = example.world.split("train", 20)
    paid = np.random.default_rng(1).random((20, example.world.VARIANTS))

    def weights(seed: int) -> Any:
        view = learning.look(part, paid, seed)
        return learning.learned(view, view, 30, seed).weights.tolist()

    assert weights(3) == weights(3) != weights(4)
    assert weights(3)[0] == [0.0, 0.0]


def test_intervals_are_student_s(example):
    student = example.learning.student
    known = {1: 12.7062, 2: 4.3027, 3: 3.1824, 5: 2.5706, 11: 2.2010, 23: 2.0687, 100: 1.9840}
    assert {df: student(df) for df in known} == pytest.approx(known, rel=0.01)
    found = example.learning.band(np.array([[0.1, 0.9], [0.3, 1.0], [0.2, 1.1]]), 0, 1)
    assert found.mean == [0.2, 1.0]
    assert found.high == [pytest.approx(0.2 + 4.3027 * 0.1 / 3**0.5, abs=1e-3), 1.0]
    assert found.low[0] == 0.0


LEARNS = pytest.mark.slow  # a policy learns in eight settings


@LEARNS
def test_a_strong_leak_is_learned_instead_of_the_task_and_the_fix_undoes_it(trained):
    _, found = trained
    weak = at(found, 0.0)
    shipped = at(found, 0.5)
    strong = at(found, 1.0)
    fixed = found["after"]
    assert weak == fixed
    assert end(strong, "train") > 0.95 > end(shipped, "train") > end(fixed, "train")
    for leaky in (shipped, strong):
        assert end(leaky, "leak") > end(leaky, "real")
        assert end(leaky, "heldout") == pytest.approx(found["chance"], abs=0.06)
    assert end(fixed, "real") > end(fixed, "leak")
    assert end(fixed, "heldout") > end(shipped, "heldout") + 0.1
    assert found["together"]["train"] > 0.1 > abs(found["together"]["heldout"])


@LEARNS
@pytest.mark.parametrize(("when", "alarm"), [("before", True), ("after", False)])
def test_the_delta_of_the_rollouts_alarms_before_the_fix_and_not_after_it(trained, when, alarm):
    out, _ = trained

    def rows(split: str) -> list[tuple[float, float, str]]:
        read = [
            json.loads(line) for line in (out / f"{when}-{split}.jsonl").read_text().splitlines()
        ]
        assert len(read) == 21 * 160
        return [(row["step"], row["reward"], row["task"]) for row in read]

    assert delta.measured(rows("train"), rows("heldout")).alarm is alarm


@LEARNS
def test_every_row_of_the_rollouts_has_the_reward_of_the_environment(example, trained):
    out, _ = trained
    for when, name in (("before", "env.toml"), ("after", "fixed.toml")):
        with Environment.from_file(EXAMPLE / name) as env:
            for split in ("train", "heldout"):
                tasks = {task.id: task for task in example.world.split(split).tasks}
                rows = [
                    json.loads(line)
                    for line in (out / f"{when}-{split}.jsonl").read_text().splitlines()
                ][::97]
                paid = [env.verify(tasks[row["task"]], row["response"]) for row in rows]
                assert paid == [row["reward"] for row in rows]


@LEARNS
def test_the_curves_in_the_repository_are_those_that_training_gives(trained, kept):
    """Seed by seed, to what another machine's arithmetic may change in one draw."""
    _, found = trained
    assert kept["seeds"] >= 20
    assert kept["strengths"] == pytest.approx([n / 20 for n in range(21)])
    for strength in found["strengths"]:
        for split in ("train", "heldout"):
            mine, theirs = (at(curves, strength)["last"][split][:3] for curves in (found, kept))
            assert mine == pytest.approx(theirs, abs=0.02)


def test_page_and_plot_in_the_repository_show_these_curves(example, kept):
    assert (RESULTS / "curves.svg").read_text() == example.picture.picture(kept)
    assert (RESULTS / "leak.html").read_text() == example.explained.page(kept)


def test_the_table_on_the_page_of_the_example_is_from_these_curves(kept):
    page = (EXAMPLE / "README.md").read_text()

    def line(run: Mapping[str, Any]) -> str:
        shown = [
            f"{end(run, key):.3f} ({end(run, key, 'low'):.3f} to {end(run, key, 'high'):.3f})"
            for key in ("train", "heldout")
        ]
        return " | ".join([*shown, *(f"{end(run, key):.2f}" for key in ("real", "leak"))])

    for name, run in (
        ("0.25", at(kept, 0.25)),
        ("0.5, as shipped", at(kept, 0.5)),
        ("1", at(kept, 1)),
        ("none: `fixed.toml`", kept["after"]),
    ):
        assert f"| {name} | {line(run)} |" in page
    assert kept["shipped"] == 0.5
    assert f"Means of {kept['seeds']} seeds" in page


@pytest.mark.parametrize(("strength", "found"), [(0.25, "opinion.lift"), (0.6, "opinion.style")])
def test_the_audit_finds_a_leak_below_the_pass_mark_and_one_above_it(tmp_path, strength, found):
    shutil.copy(EXAMPLE / "train.jsonl", tmp_path)
    text = (EXAMPLE / "env.toml").read_text()
    assert "base = 0.5 " in text
    (tmp_path / "env.toml").write_text(text.replace("base = 0.5 ", f"base = {strength} "))
    card = audit(str(tmp_path / "env.toml"), tasks=4, budget=240.0, only=["opinion"])
    assert found in {one.probe for one in card.findings}
    assert card.crossed


@pytest.mark.parametrize("given", ["two", "0,1.5", "", "-0.1", "nan"])
def test_a_strength_that_is_none_is_refused(example, tmp_path, given):
    arguments = ["--out", str(tmp_path / "out"), "--strengths", given]
    ran = CliRunner().invoke(example.train.main, arguments)
    assert ran.exit_code == 2
    assert "numbers from 0 to 1, such as 0,0.5,1" in ran.output
    assert not (tmp_path / "out").exists()
