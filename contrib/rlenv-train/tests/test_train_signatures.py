"""What the message about a trainer's function offers works when it is typed."""

from __future__ import annotations

import pytest
from rlenv import ConfigError, Environment, Task, stage
from rlenv_train.plugin import rlenv_stages
from rlenv_train.signatures import OPENRLHF, TRL, VERL

TASK = Task("What is 6 * 7?", answer="42", info={"level": 3}, id="t")


def outcome(function):
    """The result of an inline function for the right response."""
    with Environment("e", stage(where="inline")(function)) as env:
        return env.evaluate(TASK, "42").results[0]


def verl_short(solution_str, ground_truth):
    return float(solution_str == ground_truth)


def verl_whole(data_source, solution_str, ground_truth, extra_info=None):
    return float(solution_str == ground_truth and extra_info == {"level": 3})


def trl_any(prompts, completions, **kwargs):
    assert kwargs == {"level": [3]}
    return [float(c == "42") for c in completions]


def trl_answer(completions, answer, **kwargs):
    assert kwargs == {"prompts": [TASK.prompt], "level": [3]}
    return [float(c == a) for c, a in zip(completions, answer, strict=True)]


def trl_column(completions, level, answer=None, **kwargs):
    assert (level, [*kwargs]) == ([3], ["prompts"])
    return [float(c == a) for c, a in zip(completions, answer, strict=True)]


def trl_alone(completions):
    return [float(c == "42") for c in completions]


def openrlhf_whole(queries, prompts, labels):
    assert queries == [prompts[0] + "42"]
    return {"rewards": [float(q.endswith(label)) for q, label in zip(queries, labels, strict=True)]}


def openrlhf_short(queries, labels):
    return {"rewards": [float(queries[0].endswith(labels[0]))]}


@pytest.mark.parametrize(
    "function",
    [
        verl_short,
        verl_whole,
        trl_any,
        trl_answer,
        trl_column,
        trl_alone,
        openrlhf_whole,
        openrlhf_short,
    ],
)
def test_the_wrappers_in_the_messages_work(function):
    with pytest.raises(ConfigError) as caught:
        Environment("e", function)
    written = str(caught.value).partition(": pass ")[2].partition("; in an env.toml")[0]
    wrapper = eval(written, {function.__name__: function})

    assert outcome(wrapper).outcome.score == 1.0


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (
            verl_whole,
            "verl's signature: pass lambda response, answer, info: verl_whole(",
        ),
        (trl_any, "TRL's signature: pass lambda prompt, response, info: trl_any(prompts=[prompt]"),
        (openrlhf_whole, "OpenRLHF's signature: pass lambda prompt, response, answer: openrlhf_w"),
    ],
)
def test_the_message_about_a_trainer_s_function_names_the_trainer(function, says):
    with pytest.raises(ConfigError) as caught:
        Environment("e", function)
    assert says in str(caught.value)


def test_the_stages_in_the_messages_exist():
    found = [each.stage for each in (VERL, OPENRLHF, TRL) if each.stage]

    assert [stage.partition("/")[2] for stage in found] == ["verl", "trl"]
    assert {"verl", "trl"} <= rlenv_stages().keys()
