"""Samples to train on: law 13, for any conversation and any tokenizer."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv import ConfigError, Outcome, StageResult, Tokens, Trajectory, Verdict
from rlenv_plugin_agent.clients.render import Renderer
from rlenv_plugin_agent.clients.sampling import Conversation, SampledIds, TokenPolicy
from rlenv_plugin_agent.clients.server import Server
from rlenv_plugin_agent.rollouts.samples import samples_of
from rlenv_plugin_agent.tools.subagent import Child
from rlenv_train import token_sequences
from token_model import TEMPLATES, TOKENIZER, encode, end_of, source
from token_play import aplay, credited

ids = st.lists(st.integers(0, 3), max_size=4)
calls = st.builds(
    lambda prompt, sampled, told, exact: Tokens(
        prompt, sampled, [-1.0 * at for at in sampled] if told else None, exact
    ),
    ids,
    ids,
    st.booleans(),
    st.sampled_from([True, True, True, False]),
)


@st.composite
def conversations(draw):
    """Calls of which some were given what came before and some were not."""
    made = []
    for call in draw(st.lists(calls, min_size=1, max_size=6)):
        before = [*made[-1].prompt_ids, *made[-1].ids] if made and draw(st.booleans()) else []
        made.append(Tokens([*before, *call.prompt_ids], call.ids, call.logprobs, call.exact))
    return made


def talk(made):
    turns = [
        [{"role": "user", "content": "go"}, {"role": "assistant", "content": "x"}] for _ in made
    ]
    return Trajectory([message for turn in turns for message in turn], made)


def taken(made):
    return [call for call in made if call.exact and call.ids]


@given(conversations())
def test_the_mask_is_1_on_exactly_the_sampled_ids_once_each_in_order(made):
    if not taken(made):
        with pytest.raises(ConfigError, match="no sampled token ids"):
            samples_of(talk(made), Verdict(1.0, ()), inexact=True)
        return
    found = samples_of(talk(made), Verdict(1.0, ()), inexact=True)

    assert [at for each in credited(found) for at in each] == [
        at for call in taken(made) for at in call.ids
    ]


@given(conversations())
def test_each_sampled_run_is_behind_exactly_what_its_call_was_given(made):
    if not taken(made):
        return
    left = taken(made)
    for each in samples_of(talk(made), Verdict(1.0, ()), inexact=True):
        whole = (*each.prompt_ids, *each.ids)
        while left and (left[0].prompt_ids, left[0].ids) == (
            whole[: (n := len(left[0].prompt_ids))],
            whole[n : n + len(left[0].ids)],
        ):
            left.pop(0)

    assert left == []


@given(conversations())
def test_trainers_are_given_the_same_sequences(made):
    known = [call for call in made if call.exact]
    if not taken(known):
        return
    ours = samples_of(talk(known), Verdict(1.0, ()))
    theirs = token_sequences(talk(known))

    assert [
        (list(a.prompt_ids), list(a.ids), list(a.mask), a.logprobs and list(a.logprobs))
        for a in ours
    ] == [(b.prompt_ids, b.ids, b.mask, b.logprobs) for b in theirs]


@given(conversations())
def test_ids_that_the_server_did_not_tell_are_refused(made):
    if all(call.exact for call in made):
        return
    with pytest.raises(
        ConfigError, match=r"which ids were sampled in turn \d.*token_ids=True.*inexact=True"
    ):
        samples_of(talk(made), Verdict(1.0, ()))


def test_each_sample_has_the_reward_and_the_scores_of_its_turns():
    made = [Tokens([1], [2, 3]), Tokens([1, 2, 3, 9], [4]), Tokens([7], [8, 8])]
    judge = StageResult("j", Outcome(0.5, steps=[(0, 0.1), (1, 0.2), (2, 0.3), (2, 0.4), (9, 1.0)]))
    verdict = Verdict(0.5, (StageResult("all", Outcome(0.5), children=(judge,)),))
    one, two = samples_of(talk(made), verdict)

    assert (one.ids, one.mask, one.reward, one.steps) == (
        (2, 3, 9, 4),
        (1, 1, 0, 1),
        0.5,
        ((1, 0.1), (3, 0.2)),
    )
    assert (two.prompt_ids, two.ids, two.steps) == ((7,), (8, 8), ((1, 0.3), (1, 0.4)))


def test_a_subagent_has_the_reward_and_no_scores_of_turns():
    """A stage may give any turn a score, -1 too."""
    child = Child((), (Tokens([1], [2]), Tokens([1, 2, 3], [4])), 1, "done")
    verdict = Verdict(1.0, (StageResult("j", Outcome(0.5, steps=[(-1, 0.5), (0, 0.1)])),))
    _, found = samples_of(talk([Tokens([5], [6])]), verdict, children=[child])

    assert (found.ids, found.mask, found.reward, found.steps) == ((2, 3, 4), (1, 0, 1), 1.0, ())
    with pytest.raises(ConfigError, match="were sampled in a subagent"):
        samples_of(
            talk([]), verdict, children=[Child((), (Tokens([1], [2], exact=False),), 1, "done")]
        )


def test_a_prompt_that_was_changed_in_the_middle_begins_a_sample():
    found = samples_of(talk([Tokens([1, 2], [3]), Tokens([1, 9, 3, 4], [5])]), Verdict(None, ()))

    assert [(each.prompt_ids, each.reward) for each in found] == [
        ((1, 2), None),
        ((1, 9, 3, 4), None),
    ]


# -- conversations with a model over each template -------------------------------------------------

letters = st.text("hello \n<|>tu", max_size=8)
content = st.one_of(
    letters,
    st.sampled_from(
        [
            "<|im_end|>",
            "<think>x</think>",
            '<tool_call>{"name": "user", "arguments": {}}</tool_call>',
            "ß",
        ]
    ),
)


@st.composite
def sampled_ids(draw, text, end):
    """Ids of a text, cut at random places, so that the tokenizer would have made others of it."""
    cuts = sorted({0, len(text), *draw(st.lists(st.integers(0, len(text)), max_size=3))})
    parts = [at for a, b in pairwise(cuts) for at in encode(text[a:b])]
    return [*parts, *(encode(end) if draw(st.booleans()) or not parts else [])]


@given(st.data(), st.sampled_from(TEMPLATES))
def test_law_13_for_any_conversation_and_any_cut_of_its_texts(data, template):
    turns = data.draw(st.lists(content, min_size=1, max_size=4))
    sampled = [data.draw(sampled_ids(text, end_of(template))) for text in turns]
    answers = data.draw(st.lists(letters, min_size=len(turns) - 1, max_size=len(turns) - 1))
    left = [*sampled]

    class Scripted(TokenPolicy):
        async def sample(self, given_):
            now = left.pop(0)
            return SampledIds(Tokens(given_, now), "", now[-1:] == encode(end_of(template)))

    model = Renderer(TOKENIZER, source(template), {"bos_token": "<|begin_of_text|>"})
    policy = Scripted(Server("http://127.0.0.1:9"), "m", model, calls="hermes")
    assert isinstance(policy.begin(), Conversation)
    trajectory = _run(aplay(policy, answers))
    found = samples_of(trajectory, Verdict(1.0, ()))

    assert len(found) == 1
    assert credited(found) == [[at for turn in sampled for at in turn]]


def _run(steps):
    """A coroutine that waits for nothing."""
    try:
        steps.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waited")
