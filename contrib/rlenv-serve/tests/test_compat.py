"""Routes that trainers call as a remote reward model."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rlenv import Environment
from rlenv_serve import Keys, Server
from rlenv_serve.http.keys import add_key
from rlenv_serve.routes import compat
from serving import SECRET, TASKS, Client, breaks, running, served


@pytest.fixture
def ask() -> Iterator[Client]:
    with Environment("mine", breaks, TASKS) as env, running(Server(served(env))) as client:
        yield client


PROMPT = "<|im_start|>user\nWhat is 3 + 3? Not 6.<|im_end|>\n<|im_start|>assistant\n"


def batch(*pairs: tuple[object, str]) -> dict[str, object]:
    """As ``remote_rm_fn`` of OpenRLHF sends it."""
    return {
        "query": [PROMPT + response for _, response in pairs],
        "prompts": [PROMPT] * len(pairs),
        "labels": [label for label, _ in pairs],
    }


def test_openrlhf_gets_a_reward_for_each_query(ask: Client) -> None:
    got = ask("POST", "/compat/openrlhf/mine", batch(("t3", "6<|im_end|>"), ("t4", "6")))

    assert got.status == 200, got
    assert got.body == {
        "rewards": [1.0, 0.0],
        "scores": [1.0, 0.0],
        "extra_logs": {"passed": [1.0, 0.0]},
    }


def test_openrlhf_gets_503_for_a_batch_with_an_unscored_response_and_never_a_0(ask: Client) -> None:
    got = ask("POST", "/compat/openrlhf/mine", batch(("t3", "6"), ("t4", "break")))

    assert (got.status, got.body["code"], got.headers["retry-after"]) == (503, "unscored", "5")
    assert SECRET not in json.dumps(got.body)


def test_openrlhf_labels_are_answers_only_where_the_url_says_so(ask: Client) -> None:
    path = "/compat/openrlhf/mine"

    assert ask("POST", path, batch(("6", "6"))).status == 422
    assert ask("POST", path, batch((6, "6"))).status == 422
    assert ask("POST", f"{path}?label=answer", batch(("6", "6"), ("t3", "6"))).body["rewards"] == [
        1.0,
        0.0,
    ]
    assert ask("POST", f"{path}?label=other", batch(("6", "6"))).status == 422


@pytest.mark.parametrize(
    "change",
    [
        {"labels": ["t3"]},
        {"query": ["another prompt, 6"] * 2},
        {"query": []},
        {"labels": ["t3", "zz"]},
        {"prompts": None},
    ],
)
def test_openrlhf_batches_that_make_no_sense_are_422(
    ask: Client, change: dict[str, object]
) -> None:
    asked = batch(("t3", "6"), ("t4", "8")) | change

    assert ask("POST", "/compat/openrlhf/mine", asked).status == 422


def test_slime_gets_a_number(ask: Client) -> None:
    path = "/compat/slime/mine"
    sample = {"prompt": PROMPT, "response": "6", "label": "t3"}

    assert ask("POST", path, sample).body == 1.0
    assert ask("POST", path, sample | {"response": "7"}).body == 0.0
    assert ask("POST", path, sample | {"response": "break"}).status == 503
    assert ask("POST", path, sample | {"label": None}).status == 422
    talk = sample | {"prompt": [{"role": "user", "content": "3 + 3?"}], "label": "6"}
    assert ask("POST", f"{path}?label=answer", talk).body == 1.0


def row(response: str, **columns: object) -> dict[str, object]:
    """As a resources server of NeMo Gym is asked to verify."""
    output = [
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "7?"}]},
        {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "content": [{"type": "output_text", "text": response}],
        },
    ]
    create = {"input": [{"role": "user", "content": "3 + 3?"}]}
    return {"responses_create_params": create, "response": {"id": "x", "output": output}, **columns}


def test_nemo_gym_gets_its_request_with_a_reward(ask: Client) -> None:
    asked = row("6", task_id="t3", difficulty="easy")
    got = ask("POST", "/compat/nemo/mine/verify", asked)

    told = {"reward": 1.0, "mask_sample": False, "failure_kind": None, "failure_reason": None}
    assert (got.status, got.body) == (200, asked | told)
    assert ask("POST", "/compat/nemo/mine/verify", row("7", task_id="t3")).body["reward"] == 0.0
    assert ask("POST", "/compat/nemo/mine/verify", row("6", answer="6")).body["reward"] == 1.0
    assert ask("POST", "/compat/nemo/mine/verify", row("6")).status == 422
    assert ask("POST", "/compat/nemo/mine/seed_session", {}).body == {}
    assert ask("GET", "/compat/nemo/mine/reverify_mode").body == "stateless"


def test_nemo_gym_gets_a_masked_sample_where_the_verifier_failed_or_503(ask: Client) -> None:
    asked = row("break", task_id="t3")
    got = ask("POST", "/compat/nemo/mine/verify", asked).body

    assert (got["reward"], got["mask_sample"], got["failure_kind"]) == (0.0, True, "rlenv:error")
    assert SECRET not in json.dumps(got)
    assert ask("POST", "/compat/nemo/mine/verify?unscored=error", asked).status == 503


def test_nemo_gym_conversations_end_with_their_last_message(ask: Client) -> None:
    asked = row("6", task_id="t3")
    call = {"type": "function_call", "call_id": "c", "name": "add", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c", "output": "6"}
    output = asked["response"]["output"]  # type: ignore[index]

    asked["response"] = {"output": [call, result, *output]}
    assert ask("POST", "/compat/nemo/mine/verify", asked).body["reward"] == 1.0
    asked["response"] = {"output": [*output, call, result]}  # no answer was given after the result
    assert ask("POST", "/compat/nemo/mine/verify", asked).body["reward"] == 0.0


def test_nemo_gym_gets_figures_of_rollouts_without_masked_samples(ask: Client) -> None:
    path = "/compat/nemo/mine/aggregate_metrics"
    rows = [
        {
            "_ng_task_index": 0,
            "_ng_rollout_index": 0,
            "reward": 1.0,
            "mask_sample": False,
            "id": "a",
        },
        {"_ng_task_index": 0, "_ng_rollout_index": 1, "reward": 0.0, "mask_sample": False},
        {"_ng_task_index": 2, "_ng_rollout_index": 0, "reward": 1.0, "mask_sample": False},
        {"_ng_task_index": 2, "_ng_rollout_index": 1, "reward": 0.0, "mask_sample": True},
    ]
    got = ask("POST", path, {"verify_responses": rows}).body

    assert got["agent_metrics"]["mean/reward"] == pytest.approx(2 / 3)
    assert got["agent_metrics"]["std/reward"] == pytest.approx(3**-0.5)
    assert got["agent_metrics"]["mean/mask_sample"] == 0.25
    assert got["key_metrics"] == {
        name: got["agent_metrics"][name] for name in ("mean/reward", "mean/mask_sample")
    }
    assert [
        (
            each["_ng_task_index"],
            each["num_rollouts"],
            each["mean/reward"],
            each["median/reward"],
            each["max/reward"],
            each["min/reward"],
        )
        for each in got["group_level_metrics"]
    ] == [(0, 2, 0.5, 0.5, 1.0, 0.0), (2, 2, 1.0, 1.0, 1.0, 1.0)]
    assert ask("POST", path, {"verify_responses": []}).body == {
        "group_level_metrics": [],
        "agent_metrics": {},
        "key_metrics": {},
    }
    wild = [
        {"reward": 1e308},
        {"reward": 1e308},
        {"reward": 10**300},
        {"reward": 1e99},
        {"reward": -1e99},
    ]
    assert ask("POST", path, {"verify_responses": wild}).body["key_metrics"] == {"mean/reward": 0.0}
    assert ask("POST", path, {"verify_responses": [{"_ng_task_index": []}]}).status == 422
    assert ask("POST", path, {"verify_responses": [6]}).status == 422


def test_deviations_of_many_columns_cost_little() -> None:
    began = time.thread_time()
    found = [compat.FIGURES["std"]([1e-300 * number, 1e99]) for number in range(30_000)]

    assert time.thread_time() - began < 0.5  # 0.03; with fractions 1.6
    assert found == pytest.approx([1e99 / 2**0.5] * 30_000)


@pytest.mark.parametrize(
    "output", [None, [], "6", [6], [{"type": 6}], [{"content": [6, {"text": 6}]}]]
)
def test_nemo_gym_responses_without_text_are_wrong_and_no_error(
    ask: Client, output: object
) -> None:
    asked = row("6", task_id="t3") | {"response": {"output": output}}
    got = ask("POST", "/compat/nemo/mine/verify", asked)

    assert (got.status, got.body["reward"], got.body["mask_sample"]) == (200, 0.0, False)


def test_labels_with_answers_are_for_tenants_that_may_bring_them(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    key = add_key(file, "plain", answers=False, operator=False)
    with (
        Environment("mine", breaks, TASKS) as env,
        running(Server(served(env), keys=Keys.from_file(file))) as ask,
    ):
        plain = Client(ask.port, {"X-API-Key": key})

        assert plain("POST", "/compat/openrlhf/mine?label=answer", batch(("6", "6"))).status == 403
        assert (
            plain(
                "POST",
                "/compat/slime/mine?label=answer",
                {"prompt": "", "response": "6", "label": "6"},
            ).status
            == 403
        )
        assert plain("POST", "/compat/nemo/mine/verify", row("6", answer="6")).status == 403
        assert plain("POST", "/compat/nemo/mine/verify", row("6", task_id="t3")).status == 200
        assert ask("POST", "/compat/nemo/mine/seed_session", {}).status == 401
