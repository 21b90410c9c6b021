"""``trl_environment`` in GRPOTrainer, with one of TRL's own chat templates and a policy that calls
tools.
"""

from __future__ import annotations

import inspect
import pickle

import pytest
import rlenv
from rlenv import ConfigError, Environment, Task, UnknownTask
from rlenv_train import trl_environment, trl_reward

pytest.importorskip("trl", reason="TRL is not installed here: `make test-trainers` runs this")

import torch
from datasets import Dataset
from transformers import LlamaForCausalLM
from trl import GRPOConfig, GRPOTrainer
from trl.experimental.harbor import HarborSpec
from trl_cases import CHAT_SIGNS, chat_tokenizer, model

CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call><|im_end|>'


def add(a: int, b: int) -> int:
    """Adds two numbers.

    Args:
        a: a number.
        b: another number.

    Returns:
        Their sum.
    """
    return a + b


async def double(text: str) -> str:
    """Writes a text twice.

    Args:
        text: what to write.
    """
    return text * 2


@rlenv.stage(where="inline")
def final(response, answer):
    if response == "break":
        raise RuntimeError("broken")
    return response == answer


TASKS = [Task("Add 1 and 2.", answer="3", id="t1"), Task("Say 4.", answer="4", id="t2")]


@pytest.fixture
def env():
    with Environment("sums", [final], TASKS) as made:
        yield made


class Scripted(LlamaForCausalLM):  # type: ignore[misc] # TRL has an environment of its own
    """Samples nothing: its replies are given, round by round.  All else is a model."""

    replies: tuple[list[str], ...] = ()

    def generate(self, input_ids, **_):
        letters = chat_tokenizer()
        replies = self.rounds.pop(0)
        ids = [letters(text, add_special_tokens=False)["input_ids"] for text in replies]
        assert len(ids) == len(input_ids)
        longest = max(map(len, ids))
        rows = torch.tensor([one + [0] * (longest - len(one)) for one in ids])
        return torch.cat([input_ids, rows], dim=1)


def trained(tmp_path, env, rows, rounds, tools=(), **options):
    config = GRPOConfig(
        output_dir=str(tmp_path),
        max_steps=1,
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=400,
        report_to=[],
        use_cpu=True,
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
        seed=0,
        chat_template_kwargs={"enable_thinking": False},
        **options,
    )
    policy = model(Scripted, CHAT_SIGNS, longest=4096)
    policy.rounds = rounds
    trainer = GRPOTrainer(
        policy,
        trl_reward(env),
        config,
        Dataset.from_list(rows),
        processing_class=chat_tokenizer(),
        environment_factory=trl_environment(env, tools=tools),
    )
    trainer.train()
    return trainer


def rewards(trainer):
    return [*trainer._logs["rewards"]["rlenv"]]


EMPTY = [{"role": "user", "content": ""}]


def test_the_final_message_is_judged_with_the_task_that_the_id_names(tmp_path, env):
    replies = ["3<|im_end|>", "4<|im_end|>", "break<|im_end|>", "3"]
    trainer = trained(tmp_path, env, [{"prompt": EMPTY, "id": "t1"}], [replies])

    assert rewards(trainer) == pytest.approx([1, 0, float("nan"), 1], nan_ok=True)
    assert trainer._logs["prompt"][0] == [{"role": "user", "content": "Add 1 and 2."}]


def test_a_policy_may_call_the_tools(tmp_path, env):
    rounds = [[CALL, "3<|im_end|>", "4<|im_end|>", CALL], ["3<|im_end|>", "5<|im_end|>"]]
    trainer = trained(tmp_path, env, [{"prompt": EMPTY, "id": "t1"}], rounds, [add, double])

    assert rewards(trainer) == [1, 1, 0, 0]
    said = [(each["role"], each["content"]) for each in trainer._logs["completion"][0]]
    assert said == [("assistant", ""), ("tool", "3"), ("assistant", "3")]
    assert trainer.state.log_history[0]["tools/failure_frequency"] == 0
    assert [set(trainer._sync_tool_dicts[0]), set(trainer._async_tool_dicts[0])] == [
        {"add"},
        {"double"},
    ]


def test_only_tools_are_public_methods(env):
    made = trl_environment(env, tools=[add, double])()
    public = [
        name for name, _ in inspect.getmembers(type(made), inspect.isfunction) if name[0] != "_"
    ]

    assert public == ["add", "double", "reset"]
    assert made.add(1, 2) == 3
    assert inspect.iscoroutinefunction(made.double)


def test_a_row_that_has_a_prompt_keeps_it(env):
    made = trl_environment(env)()

    assert made.reset(prompt=EMPTY, id="t2", answer="x") == "Say 4."
    assert made.reset(id="t2") == "Say 4."
    assert made.reset(prompt=[{"role": "user", "content": "Say 4."}]) is None
    with Environment("none", [final]) as none:
        assert trl_environment(none)().reset(prompt=EMPTY) is None


def test_a_row_without_a_task_is_an_error(env):
    made = trl_environment(env, id="key")()
    with pytest.raises(ConfigError, match="needs the column 'key', the id of a task of sums"):
        made.reset(prompt=EMPTY, id="t2")
    with pytest.raises(UnknownTask, match="'t9'"):
        made.reset(key="t9")
    messages = [{"role": "system", "content": "Short."}, {"role": "user", "content": "Say 4."}]
    several = Task("Say 4.", answer="4", id="t1", info={"messages": messages})
    with (
        Environment("x", [final], [several]) as x,
        pytest.raises(ConfigError, match="several messages"),
    ):
        trl_environment(x)().reset(id="t1")


def untyped(a):
    """Adds.

    Args:
        a: a number.
    """


def bare(a: int) -> int:
    return a


def reset(a: int) -> int:
    """Resets.

    Args:
        a: a number.
    """
    return a


@pytest.mark.parametrize(
    ("tools", "wanted"),
    [
        ([untyped], "tool untyped"),
        ([bare], "tool bare"),
        ([reset], "not reset"),
        ([lambda: 1], "public name"),
        ([add, add], "different names"),
    ],
)
def test_a_tool_that_trl_cannot_describe_is_an_error_at_construction(env, tools, wanted):
    with pytest.raises(ConfigError, match=wanted):
        trl_environment(env, tools=tools)


def test_the_factory_of_a_file_travels_to_another_process(tmp_path):
    (tmp_path / "env.toml").write_text(
        'name = "e"\n[[stage]]\nuse = "core/equal"\n[[task]]\nid = "a"\nprompt = "p"\nanswer ='
        ' "1"\n'
    )
    made = trl_environment(tmp_path / "env.toml", tools=[len_of])
    copied = pickle.loads(pickle.dumps(made))()

    assert (copied.reset(id="a"), copied.len_of("abc")) == ("p", 3)


def len_of(text: str) -> int:
    """Counts.

    Args:
        text: of any length.
    """
    return len(text)


def test_trl_s_harbor_spec_does_not_read_environments_of_rlenv(tmp_path):
    """As the page says: it reads directories of Harbor tasks, of which rlenv writes none."""
    folder = tmp_path / "tasks" / "sums"
    folder.mkdir(parents=True)
    (folder / "env.toml").write_text('name = "e"\n[[stage]]\nuse = "core/equal"\n')

    with pytest.raises(ValueError, match="No tasks"):
        HarborSpec(str(tmp_path)).train_dataset  # noqa: B018 - a property that reads the directory
