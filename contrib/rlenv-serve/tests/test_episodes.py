"""``/episodes``: what a client sees of episodes."""

from __future__ import annotations

from rlenv import Environment, Outcome, stage
from rlenv_serve import Server
from rlenv_serve.sessions import Answer
from serving import SECRET, TASKS, Client, episode, running, served


def test_an_episode_begins_steps_and_ends_with_a_reward(ask: Client) -> None:
    begun = ask("POST", "/episodes", {"task_id": "t3", "agent_id": "me", "environment": "sums"})

    assert begun.status == 201
    assert begun.body["observation"] == [{"role": "user", "content": "What is 3 + 3?"}]
    assert [each["name"] for each in begun.body["tools"]] == ["add", "submit"]
    id_ = begun.body["episode_id"]
    step = ask("POST", f"/episodes/{id_}/steps", {"action": "add", "a": 3, "b": 3})
    assert (step.status, step.body["text"], step.body["done"], step.body["step"]) == (
        200,
        "6",
        False,
        1,
    )
    assert ask("GET", f"/episodes/{id_}").body == {
        "id": id_,
        "task_id": "t3",
        "status": "open",
        "steps": 1,
        "stop_reason": None,
        "reason": None,
    }
    last = ask("POST", f"/episodes/{id_}/steps", {"action": "submit", "answer": "6"})
    assert (last.body["done"], last.body["reward"], last.body["stop_reason"]) == (
        True,
        1.0,
        "passed",
    )
    reward = ask("GET", f"/episodes/{id_}/reward").body
    assert (reward["reward"], reward["status"], reward["passed"]) == (1.0, "done", True)
    assert {"tests_passed", "total_tests", "stages", "fingerprint"} <= reward.keys()


def test_asking_for_the_reward_ends_an_open_episode(ask: Client) -> None:
    id_ = episode(ask)

    assert ask("GET", f"/episodes/{id_}/reward").body["reward"] == 0.0
    assert ask("GET", f"/episodes/{id_}").body["status"] == "done"
    late = ask("POST", f"/episodes/{id_}/steps", {"action": "submit", "answer": "6"})
    assert (late.status, late.body["code"]) == (409, "episode_finished")


def test_a_repeated_request_is_answered_as_the_first_was(ask: Client) -> None:
    first = ask("POST", "/episodes", {"task_id": "t3", "environment": "sums"}, Idempotency_Key="k1")
    second = ask(
        "POST", "/episodes", {"task_id": "t3", "environment": "sums"}, Idempotency_Key="k1"
    )
    other = ask("POST", "/episodes", {"task_id": "t4", "environment": "sums"}, Idempotency_Key="k1")

    assert first.body["episode_id"] == second.body["episode_id"]
    assert (other.status, other.body["code"]) == (409, "key_reused")
    path = f"/episodes/{first.body['episode_id']}/steps"
    steps = [
        ask("POST", path, {"action": "add", "a": 1, "b": 1}, Idempotency_Key="s1") for _ in range(2)
    ]
    assert steps[0].body == steps[1].body
    assert ask("POST", path, {"action": "add", "a": 1, "b": 2}, Idempotency_Key="s1").status == 409
    assert ask("GET", path.removesuffix("/steps")).body["steps"] == 1


def test_a_repeated_last_step_is_answered_after_the_end(ask: Client) -> None:
    path = f"/episodes/{episode(ask)}/steps"
    steps = [
        ask("POST", path, {"action": "submit", "answer": "6"}, Idempotency_Key="end")
        for _ in range(2)
    ]

    assert steps[0].body == steps[1].body
    assert steps[1].body["reward"] == 1.0


def test_an_unscored_episode_has_no_reward_and_says_nothing_private(ask: Client) -> None:
    id_ = episode(ask, "t0", "broken")
    step = ask("POST", f"/episodes/{id_}/steps", {"action": "submit", "answer": "0"})
    reward = ask("GET", f"/episodes/{id_}/reward")

    assert (step.body["reward"], step.body["fault"], step.body["stop_reason"]) == (
        None,
        "error",
        "error",
    )
    assert (reward.body["reward"], reward.body["passed"], reward.body["fault"]) == (
        None,
        None,
        "error",
    )
    assert SECRET not in str(step.body) + str(reward.body)


def test_what_is_not_there_is_404_and_what_is_wrong_is_422(ask: Client) -> None:
    assert ask("GET", "/episodes/nothing").status == 404
    assert ask("POST", "/episodes", {"task_id": "t99", "environment": "sums"}).status == 404
    ambiguous = ask("POST", "/episodes", {"task_id": "t3"})
    assert ambiguous.status == 422
    assert "sums, single" in ambiguous.body["detail"]
    assert ask("POST", "/episodes", {"task_id": "sums/t3"}).status == 201
    assert ask("POST", "/episodes", {"task_id": 3}).status == 422
    for wrong in ({"seed": 1 << 62}, {"seed": -(1 << 62) - 1}, {"agent_id": "x" * 201}):
        got = ask("POST", "/episodes", {"task_id": "sums/t3", **wrong})
        assert got.status == 422
        assert next(iter(wrong)) in got.body["detail"]
    assert ask("POST", "/episodes", b"{").status == 400
    assert ask("POST", f"/episodes/{episode(ask)}/steps", {"code": "x"}).status == 422
    assert ask("PUT", "/episodes").status == 405


def test_a_deleted_episode_is_gone(ask: Client) -> None:
    id_ = episode(ask)

    assert [ask("DELETE", f"/episodes/{id_}").status for _ in range(2)] == [204, 404]
    assert ask("GET", f"/episodes/{id_}").status == 404


@stage(where="inline")
def quotes(visible: str) -> Outcome:
    return Outcome(0.0, f"not \ud800 {visible}", {"found": "\udfff"})


def test_half_a_surrogate_in_a_detail_leaves_the_reward_there() -> None:
    with running(Server(served(Environment("sums", quotes, TASKS)))) as ask:
        id_ = episode(ask)
        ask("POST", f"/episodes/{id_}/steps", {"action": "message", "content": "6"})
        got = ask("GET", f"/episodes/{id_}/reward")

        assert (got.status, got.body["reward"]) == (200, 0.0)
        assert got.body["stages"][0]["detail"] == "not \ud800 6"


def test_an_answer_with_half_a_surrogate_is_kept_as_it_was() -> None:
    answer = Answer(1, [{"role": "tool", "content": "\ud800"}], value={"\udfff": 1})

    assert Answer.from_json(answer.to_json()) == answer
