"""`rlenv judge calibrate`: how far a judge and people agree, and the map that makes more of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rlenv import Environment, Task
from rlenv.config.files import File
from rlenv.model.errors import ConfigError
from rlenv_cli.app import cli
from rlenv_plugin_judge.applied import Applied
from rlenv_plugin_judge.calibrating import section

TASKS = 10


def write(
    folder: Path, server: Any, model: str = "honest", use: str = "judge/reference", more: str = ""
) -> str:
    table = f'{{ base_url = "{server.url}", model = "{model}", key_env = "" }}'
    text = f'name = "quiz"\n[[stage]]\nuse = "{use}"\n[stage.options]\njudge = {table}\n{more}'
    for n in range(TASKS):
        text += f'[[task]]\nid = "t{n}"\nprompt = "Question {n}?"\nanswer = "a{n}"\n'
    path = folder / "env.toml"
    path.write_text(text, "utf-8")
    return str(path)


def labels(folder: Path, server: Any, quality: Any = lambda n, good: float(good)) -> str:
    rows = []
    for n in range(TASKS):
        for good in (True, False):
            response = f"{'right' if good else 'wrong'} answer number {n}" + " and so on" * (n % 4)
            rows.append({"task": f"t{n}", "response": response, "label": good})
            server.key[response] = quality(n, good)
    path = folder / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def run(*args: str) -> Any:
    return CliRunner().invoke(cli, ["judge", "calibrate", *args])


def test_an_honest_judge_agrees_with_people(tmp_path: Path, judge_server: Any) -> None:
    result = run(write(tmp_path, judge_server), labels(tmp_path, judge_server), "--json")

    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["figures"]
    assert (found["rows"], found["accuracy"], found["kappa"], found["alpha"]) == (20, 1.0, 1.0, 1.0)
    assert found["accuracy_interval"] == pytest.approx([0.8388748419471806, 1.0])  # of 20 of 20
    assert found["ece"] == 0.0
    assert found["flip_rate"] is None


def test_the_map_is_applied_by_the_stage(tmp_path: Path, judge_server: Any) -> None:
    given = labels(tmp_path, judge_server, lambda n, good: 0.9 if good else 0.6)  # too kind
    env = write(tmp_path, judge_server, more="partial = true\n")
    out = tmp_path / "map.json"
    page = tmp_path / "map.html"
    result = run(env, given, "-o", str(out), "--page", str(page))

    assert result.exit_code == 0, result.output
    found = json.loads(out.read_text("utf-8"))
    assert found["schema"] == "rlenv.calibration/1"
    assert found["figures"]["ece_held_out"] < found["figures"]["ece"]
    assert "<svg" in page.read_text("utf-8")
    assert "<script" not in page.read_text("utf-8")
    assert "<td>accuracy</td><td>0.5000 (95 %: 0." in page.read_text("utf-8")
    assert "interval" not in page.read_text("utf-8")
    again = write(tmp_path, judge_server, more=f'partial = true\ncalibration = "{out}"\n')
    task = Task("Question 0?", id="t0", answer="a0")
    with Environment.from_file(again) as made:
        values = [
            made.evaluate(task, f"{word} answer number 0").value for word in ("right", "wrong")
        ]
    assert values == pytest.approx([1.0, 0.0], abs=0.05)
    assert run(env, given, "-o", str(out)).exit_code == 2  # never written over unasked


def test_a_judge_that_favors_the_first_is_found_out(tmp_path: Path, judge_server: Any) -> None:
    given = labels(tmp_path, judge_server, lambda _, good: 0.6 if good else 0.5)
    rates = {}
    for model in ("honest", "honest+position-biased"):
        result = run(write(tmp_path, judge_server, model, "judge/pairwise"), given, "--json")
        assert result.exit_code == 0, result.output
        rates[model] = json.loads(result.stdout)["figures"]["flip_rate"]

    assert rates == {"honest": 0.0, "honest+position-biased": 1.0}


def test_mistakes_name_the_row(tmp_path: Path, judge_server: Any) -> None:
    env = write(tmp_path, judge_server)
    path = tmp_path / "bad.jsonl"
    path.write_text('{"task": "t0", "response": "x", "label": 7}\n', "utf-8")
    result = run(env, str(path))

    assert result.exit_code == 2
    assert "row 1: label is a number from 0 to 1" in result.output
    assert run(env, labels(tmp_path, judge_server), "--stage", "other").exit_code == 2


def test_a_dead_judge_is_no_disagreement(tmp_path: Path, judge_server: Any) -> None:
    env = write(tmp_path, judge_server, "refusing")
    result = run(env, labels(tmp_path, judge_server))

    assert result.exit_code == 2
    assert "got no verdict" in result.output


def test_a_judge_that_pays_for_length_shows_a_slope_and_agrees_better_without_it(
    tmp_path: Path, judge_server: Any
) -> None:
    given = labels(tmp_path, judge_server, lambda _, good: 0.5 if good else 0.1)
    rows = [json.loads(line) for line in Path(given).read_text("utf-8").splitlines()]
    for n, row in enumerate(rows):
        row["response"] += " and more of it" * (n * 7 % 40 * 8)
        judge_server.key[row["response"]] = 0.5 if row["label"] else 0.1
    Path(given).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    env = write(tmp_path, judge_server, "honest+length-biased", more="partial = true\n")
    out = tmp_path / "style.json"
    plain = json.loads(run(env, given, "--json").stdout)["figures"]
    styled = run(env, given, "--style", "-o", str(out), "--json")

    assert styled.exit_code == 0, styled.output
    low, _ = plain["slopes"]["length"]["interval"]
    assert low > 0.0  # beyond what labels explain
    assert json.loads(out.read_text("utf-8"))["style"]["slopes"]["length"] > 0.0
    assert json.loads(styled.stdout)["figures"]["alpha_held_out"] > plain["alpha_held_out"]


def test_style_that_is_taken_off_never_pays_for_being_short(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    style = {"slopes": {"length": 0.1}, "errors": {"length": 0.01}, "bases": {"length": 1.0}}
    path.write_text(json.dumps({"schema": "rlenv.calibration/1", "style": style}), "utf-8")
    applied = Applied.read(path)

    assert applied.to(0.0, "Rome")[0] == 0.0
    assert applied.to(0.6, "")[0] == 0.6
    assert applied.to(0.6, "Rome " * 9)[0] <= 0.6
    assert applied.to(0.6, "Rome " * 1000)[0] < 0.6


def test_the_report_of_a_run_shows_the_map_that_was_applied(
    tmp_path: Path, judge_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = labels(tmp_path, judge_server)
    run(write(tmp_path, judge_server), given, "-o", str(tmp_path / "map.json"))
    env = write(tmp_path, judge_server, more='calibration = "map.json"\n')
    monkeypatch.chdir(Path(given).root)
    scores = str(tmp_path / "s.jsonl")
    page = tmp_path / "page.html"
    result = CliRunner().invoke(cli, ["score", env, given, "-o", scores, "--report", str(page)])

    assert result.exit_code == 0, result.output
    html = page.read_text("ascii")
    assert '<section class="plugin"><h2>Calibration of reference</h2>' in html
    shown = html.partition("Calibration of reference")[2].partition("</section>")[0]
    assert shown.count("<circle") == 2
    assert "<polyline points=" in shown
    assert "kappa" in shown


@pytest.mark.parametrize(
    "data",
    [
        {"bins": [[1, 2, 3]]},
        {"bins": [["<script>", 0, 0]]},
        {"bins": 7},
        {"isotonic": {"scores": "x"}},
        {"figures": {"slopes": {"x": 1}}},
        {"figures": 3},
        [],
    ],
)
def test_a_map_that_cannot_be_drawn_is_told(tmp_path: Path, data: Any) -> None:
    path = tmp_path / "map.json"
    path.write_text(json.dumps(data), "utf-8")
    with pytest.raises(ConfigError, match="cannot be shown"):
        section._section(File(str(path)))


def test_a_map_without_bins_and_figures_is_still_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text(json.dumps({"schema": "rlenv.calibration/1"}), "utf-8")
    assert "<svg" in section._section(File(str(path)))
