"""``verifiers_reward`` in verifiers' own scoring, plugged in by a configuration."""

from __future__ import annotations

import asyncio

import pytest
from page import run_program, write_files
from rlenv import Environment, Task

pytest.importorskip(
    "verifiers.v1", reason="verifiers ≥ 0.4 is not installed here: `make test-trainers` runs this"
)

import verifiers.v1 as vf
from verifiers.v1.graph import MessageNode
from verifiers.v1.trace import AgentInfo, Trace, TraceTask
from verifiers.v1.types import AssistantMessage, UserMessage

GOLD = "the-secret-gold"
MODULE = f"""
import rlenv
from rlenv import Environment
from rlenv_train import verifiers_reward

@rlenv.stage(where="inline")
def right(response, prompt, answer, info):
    if response == "break":
        raise RuntimeError("{GOLD}" + answer)
    return (prompt, response, info) == ("1+1=", answer, {{"level": 3}})

reward = verifiers_reward(Environment("sums", [right]))
"""


class Row(vf.TaskData):  # type: ignore[misc] # verifiers has an environment of its own
    answer: str
    level: int


class Sum(vf.Task[Row, vf.State]):  # type: ignore[misc] # as above
    @vf.reward  # type: ignore[untyped-decorator] # as above
    async def fmt(self, trace) -> float:
        return 1.0


def scored(tmp_path, *said):
    (tmp_path / "rewards.py").write_text(MODULE)
    plugged = {"rlenv": {"fn": f"{tmp_path}/rewards.py:reward", "weight": 0.5}}
    data = Row(idx=0, prompt="1+1=", answer="2", level=3)
    trace = Trace(task=TraceTask(type="Sum", data=data), agent=AgentInfo(config=vf.AgentConfig()))
    messages = [UserMessage(content="1+1="), *(AssistantMessage(content=text) for text in said)]
    trace.nodes = [
        MessageNode(message=message, parent=at - 1 if at else None, sampled=at > 0)
        for at, message in enumerate(messages)
    ]
    asyncio.run(Sum(data, vf.TaskConfig(rewards=plugged)).score(trace))
    return trace


def test_a_configuration_names_the_environment_as_a_reward(tmp_path):
    right = scored(tmp_path, "2")
    wrong = scored(tmp_path, "3")

    assert (right.reward, wrong.reward) == (1.5, 1.0)
    assert right.metrics == {"rlenv/right": 1.0}


def test_a_trace_without_a_reply_is_an_empty_response(tmp_path):
    assert scored(tmp_path).rewards["rlenv"].score == 0.0


def test_an_unscored_response_is_an_error_of_its_trace_without_the_answer(tmp_path):
    with pytest.raises(vf.TaskError, match="unscored by rlenv: error at right") as raised:
        scored(tmp_path, "break")

    assert GOLD not in str(raised.value)


def test_the_program_of_the_page_runs(tmp_path):
    write_files("train-with-verifiers.md", tmp_path)

    assert run_program("try.py", tmp_path).splitlines() == ["reward 1.0", "unscored"]


@pytest.mark.parametrize(
    ("returned", "scores"),
    [
        ("float(trace.last_reply == self.data.answer)", [1.0, 0.0]),
        ("None", [None, None]),
        ("{}", [None, None]),
        ("1 / 0", [None, None]),
    ],
)
def test_the_function_of_the_page_scores_a_reward_of_verifiers(tmp_path, returned, scores):
    write_files("import-rewards.md", tmp_path)
    module = tmp_path / "sums_task.py"
    module.write_text(
        module.read_text().replace("float(trace.last_reply == self.data.answer)", returned)
    )
    with Environment.from_file(tmp_path / "task.toml") as env:
        task = Task("17 + 25 = ?", answer="42")
        assert [env.evaluate(task, text).value for text in ("42", "43")] == scores


def test_the_program_of_the_page_of_imports_runs(tmp_path):
    write_files("import-rewards.md", tmp_path)

    assert run_program("task_try.py", tmp_path) == "1.0\n"
