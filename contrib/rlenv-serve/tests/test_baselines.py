"""Baselines over HTTP: who may write them, who sees them, and when they are stale."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from commands import everyday
from rlenv import Environment, Task
from rlenv_serve import Keys, Limits, Server
from rlenv_serve.http.keys import add_key
from rlenv_serve.routes import configuration as routes
from rlenv_serve.trajectories.store import TrajectoryStore
from serving import (
    SECRET,
    TASKS,
    Client,
    broken,
    catalog_of,
    episode,
    fails,
    owned,
    running,
    same,
    served,
    single,
    sums,
    until,
)


@pytest.fixture
def ask() -> Iterator[Client]:
    """A server without keys, of which everyone is the operator: baselines are for operators."""
    with catalog_of(sums(), single(), broken()) as catalog, running(owned(catalog)) as client:
        yield client


def keep(ask: Client, results: object, model: str = "small", **more: object) -> Any:
    """The answer to baselines of `sums`."""
    return ask(
        "PUT", "/v1/baselines", {"environment": "sums", "model": model, "results": results, **more}
    )


def rows(ask: Client, query: str = "") -> dict[str, list[tuple[Any, ...]]]:
    """Baselines by task."""
    got = ask("GET", f"/environments/sums/tasks{query}")
    assert got.status == 200, got
    return {
        task["task_id"]: [
            (
                each["model"],
                each["attempts"],
                each["passed"],
                each["unscored"],
                each["reward"],
                each["stale"],
            )
            for each in task["baselines"]
        ]
        for task in got.body["tasks"]
    }


def test_what_a_model_reaches_is_kept_and_shown_with_the_tasks(ask: Client) -> None:
    assert keep(ask, {"t1": [1, 0.5, None, 0], "t9": [None]}).body == {"kept": 2}
    assert keep(ask, {"t1": [1]}, "large").body == {"kept": 1}
    assert keep(ask, {"t2": [1]}, environment="single").body == {"kept": 1}

    found = rows(ask)
    assert [*found] == [f"t{n}" for n in range(10)]
    assert found["t1"] == [("large", 1, 1, 0, 1.0, False), ("small", 4, 1, 1, 0.5, False)]
    assert found["t9"] == [("small", 1, 0, 1, None, False)]
    assert found["t2"] == []
    assert [*rows(ask, "?split=test")] == ["t8", "t9"]
    assert [*rows(ask, "?without=small&split=test")] == ["t8"]
    assert [*rows(ask, "?without=large")] == [f"t{n}" for n in range(10) if n != 1]
    assert [*rows(ask, "?after=t7")] == ["t8", "t9"]
    assert rows(ask, "?after=t9") == rows(ask, "?split=none") == {}


def test_the_program_of_the_documentation_sends_what_rlenv_score_has_written(
    tmp_path: Path,
) -> None:
    page = Path(__file__).parents[3] / "docs" / "how-to" / "serve.md"
    (program,) = re.findall(
        r"^```text\n(import json\n.*?)^```$", page.read_text("utf-8"), re.M | re.S
    )
    env_toml = everyday(tmp_path, {"id": "a", "prompt": "1 + 1?", "answer": "2"})
    (tmp_path / "r.jsonl").write_text(
        "".join(f'{{"task": "a", "response": "{each}"}}\n' for each in (2, 3, 2))
    )

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=True
        )

    run("-m", "rlenv", "score", "env.toml", "r.jsonl", "-o", "scores.jsonl")
    with Environment.load(str(env_toml)) as env, running(owned(served(env))) as ask:
        assert "kept" in run("-c", program, ask.url).stdout
        (task,) = ask("GET", "/environments/everyday/tasks").body["tasks"]
    (kept,) = task["baselines"]
    assert (kept["attempts"], kept["passed"], kept["stale"]) == (3, 2, False)


def test_baselines_of_one_model_are_in_the_order_in_which_they_were_measured(
    tmp_path: Path,
) -> None:
    marks = (1.0, 0.8, 0.6, 0.4, 0.2)
    for mark in marks:
        environment = Environment("sums", same, TASKS, pass_mark=mark)
        store = TrajectoryStore(f"sqlite:{tmp_path}/c.sqlite")
        with running(owned(served(environment), trajectories=store)) as ask:
            keep(ask, {"t1": [mark]})
            got = ask("GET", "/environments/sums/tasks").body["tasks"][1]["baselines"]

    assert [each["reward"] for each in got] == [*marks]
    assert [each["passed"] for each in got] == [1] * 5
    assert len({each["fingerprint"] for each in got}) == 5


def test_pages_have_each_task_once(ask: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "PAGE", 3)
    seen = list[str]()
    while page := rows(ask, f"?after={seen[-1]}" if seen else ""):
        assert len(page) <= 3
        seen += page

    assert seen == [f"t{n}" for n in range(10)]


def test_a_baseline_is_stale_after_the_verifier_or_the_task_has_changed(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path}/c.sqlite"
    first, second, *rest = TASKS
    other_answer = [first, evolve(second, answer="3"), *rest]

    def found(environment: Environment, model: str) -> dict[str, list[tuple[Any, ...]]]:
        with running(owned(served(environment), trajectories=TrajectoryStore(url))) as ask:
            before = rows(ask)
            assert {*rows(ask, f"?without={model}")} == {
                name
                for name, kept in before.items()
                if (model, False) not in [(each[0], each[-1]) for each in kept]
            }
            keep(ask, {"t0": [1], "t1": [0]}, model)
            return before

    def stale(kept: list[tuple[Any, ...]]) -> list[tuple[str, bool]]:
        return sorted((each[0], each[-1]) for each in kept)

    assert stale(found(sums(), "a")["t0"]) == []
    changed = found(Environment("sums", fails, TASKS), "b")
    assert stale(changed["t0"]) == [("a", True)]
    answered = found(Environment("sums", fails, other_answer), "b")
    assert stale(answered["t0"]) == [("a", True), ("b", False)]
    assert stale(answered["t1"]) == [("a", True), ("b", True)]
    again = found(Environment("sums", fails, other_answer), "a")
    assert stale(again["t1"]) == [("a", True), ("b", False), ("b", True)]
    last = found(Environment("sums", fails, other_answer), "a")
    assert stale(last["t1"]) == [("a", False), ("a", True), ("b", False), ("b", True)]


def test_only_an_operator_writes_and_a_tenant_sees(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    alice, root = (
        add_key(file, name, answers=True, operator=name == "root") for name in ("alice", "root")
    )
    with running(Server(served(sums(), broken()), keys=Keys.from_file(file))) as nobody:
        tenant, operator = (Client(nobody.port, {"X-API-Key": key}) for key in (alice, root))
        assert keep(operator, {"t1": [1]}).status == 200
        for ask, status in ((nobody, 401), (tenant, 403)):
            assert keep(ask, {"t1": [0]}).status == status
        assert nobody("GET", "/environments/sums/tasks").status == 401
        assert rows(tenant)["t1"] == [("small", 1, 1, 0, 1.0, False)]
        assert keep(tenant, {"t1": [0]}).body["code"] == "operator_only"
        told = [operator("GET", f"/environments/{name}/tasks").body for name in ("sums", "broken")]
        assert SECRET not in json.dumps(told)
        assert "answer" not in json.dumps(told)


@pytest.mark.parametrize(
    "body",
    [
        {"results": {}},
        {"results": {"t1": []}},
        {"results": {"t1": [1.5]}},
        {"results": {"t1": [-1e-9]}},
        {"results": {"t1": ["1"]}},
        {"results": {"t1": [True]}},
        {"results": {"t1": 1}},
        {"results": [1]},
        {"results": {"t1": [1e999]}},
        {"model": ""},
        {"model": "x" * 201},
        {"model": "a\nb"},
        {"model": "a\n"},
        {"model": "\x00"},
        {"model": "a\x7f"},
        {"model": None},
        {"model": 3},
        {"environment": 3},
    ],
    ids=str,
)
def test_a_value_out_of_range_is_422_and_nothing_is_kept(ask: Client, body: dict[str, Any]) -> None:
    whole = {"environment": "sums", "model": "small", "results": {"t1": [1]}, **body}
    got = ask("PUT", "/v1/baselines", json.dumps(whole).replace("Infinity", "1e999").encode())

    assert got.status in ((400, 422) if body == {"results": {"t1": [1e999]}} else (422,)), got
    assert rows(ask)["t1"] == []


def test_a_member_that_there_is_not_is_named_with_the_nearest_and_nothing_is_kept(
    ask: Client,
) -> None:
    got = keep(ask, {"t1": [1]}, fingerprnt="0" * 64)

    assert (got.status, got.body["code"]) == (400, "invalid")
    assert "'fingerprnt'" in got.body["detail"]
    assert '"fingerprint"' in got.body["detail"]
    assert rows(ask)["t1"] == []


@pytest.mark.parametrize("raw", [b"NaN", b"Infinity", b"-Infinity"])
def test_a_reward_that_is_not_json_is_400(ask: Client, raw: bytes) -> None:
    body = b'{"environment": "sums", "model": "m", "results": {"t1": [%s]}}' % raw

    assert ask("PUT", "/v1/baselines", body).status == 400
    assert rows(ask)["t1"] == []


def test_what_was_measured_with_something_else_is_409(ask: Client) -> None:
    now = ask("GET", "/environments/sums/tasks").body["fingerprint"]

    assert keep(ask, {"t1": [1]}, fingerprint="0" * 64).status == 409
    assert keep(ask, {"t1": [1]}, tasks_sha256="0" * 64).body["code"] == "other_version"
    assert keep(ask, {"t1": [1]}, fingerprint=now, tasks_sha256=sums().tasks.sha256).status == 200


def test_unknown_names_are_404_and_hostile_ones_too(ask: Client) -> None:
    assert keep(ask, {"t1": [1], "t99": [1]}).status == 404
    assert rows(ask)["t1"] == []
    assert (
        ask(
            "PUT", "/v1/baselines", {"environment": "no", "model": "m", "results": {"t1": [1]}}
        ).status
        == 404
    )
    for name in ("no", "..%2f", "%00", "x" * 5000, "'; DROP TABLE tasks"):
        asked = name.replace(" ", "%20")
        assert ask("GET", f"/environments/{asked}/tasks").status == 404
    for query in ("after=no", "after=", "after=%00", "after=%ff", "after=" + "x" * 5000):
        assert ask("GET", f"/environments/sums/tasks?{query}").status == 422
    for query in ("without=%ff", "without=", "without=%00", "without=" + "x" * 5000, "without='"):
        assert [*rows(ask, f"?{query}")] == [f"t{n}" for n in range(10)]
    for query in ("split=%00", "split=%ff", "split=", "split=" + "x" * 5000):
        assert rows(ask, f"?{query}") == {}


def test_tasks_whose_ids_no_database_takes_are_told_apart(database_url: str) -> None:
    ids = ["\0", "\ufffd", "a?", "x" * 5000, "a b"]
    tasks = [Task("1?", answer="1", id=each) for each in ids]
    catalog = served(Environment("sums", same, tasks))
    with running(owned(catalog, trajectories=TrajectoryStore(database_url))) as ask:
        assert keep(ask, {each: [n / 8] for n, each in enumerate(ids)}).status == 200
        found = rows(ask)
        assert [*found] == ids
        assert {each: found[each][0][4] for each in ids[2:]} == {
            "a?": 2 / 8,
            "x" * 5000: 3 / 8,
            "a b": 4 / 8,
        }
        assert rows(ask, "?without=small") == {}
        assert [*rows(ask, "?after=%00")] == ids[1:]
        assert [*rows(ask, "?without=%00")] == ids


def test_baselines_in_memory_end_no_request_when_they_fill_it(
    ask: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlenv_serve.trajectories.store.HELD", 1)
    keep(ask, {"t1": [1]})
    ask("POST", f"/episodes/{episode(ask)}/steps", {"action": "submit", "answer": "6"})

    until(lambda: ask("GET", "/trajectories").status == 200)
    assert rows(ask)["t1"] == [("small", 1, 1, 0, 1.0, False)]


def test_a_store_that_cannot_be_written_is_503_with_a_code_and_the_rest_goes_on(
    tmp_path: Path,
) -> None:
    store = TrajectoryStore(f"sqlite:{tmp_path}/c.sqlite")
    with running(owned(served(sums()), trajectories=store)) as ask:
        assert keep(ask, {"t1": [1]}).status == 200
        store._engine.dispose()
        for each in tmp_path.iterdir():
            each.unlink()
        tmp_path.joinpath("c.sqlite").mkdir()
        got = keep(ask, {"t2": [1]})

        assert (got.status, got.body["code"]) == (503, "trajectories_unavailable")
        assert got.headers["retry-after"] == "2"
        assert ask("GET", "/environments/sums/tasks").status == 503
        assert ask("POST", "/episodes", {"task_id": "t1"}).status == 201


def test_many_results_are_one_transaction() -> None:
    with running(owned(served(single()), limits=Limits(body=1 << 20))) as ask:
        results = {f"t{n}": [n % 2] * 30_000 for n in range(10)}
        body = {"environment": "single", "model": "m", "results": results}
        assert ask("PUT", "/v1/baselines", body).status == 200
        found = ask("GET", "/environments/single/tasks").body["tasks"]
        assert [
            (each["baselines"][0]["attempts"], each["baselines"][0]["reward"]) for each in found
        ] == [(30_000, float(n % 2)) for n in range(10)]
