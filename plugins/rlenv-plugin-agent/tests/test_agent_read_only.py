"""What a policy is given: a dict and a list for everything that reads, and an error for everything
that writes.
"""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from rlenv_plugin_agent import Episode, call
from rlenv_plugin_agent.messages.read_only import read_only_messages
from sums import TASK, sums

MESSAGES = [
    {"role": "user", "content": [{"type": "text", "text": "é"}]},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": {"name": "add"}}]},
]
CHANGES: dict[str, Callable[[Any], object]] = {
    "list append": lambda seen: seen.append({}),
    "list extend": lambda seen: seen.extend([{}]),
    "list insert": lambda seen: seen.insert(0, {}),
    "list pop": lambda seen: seen.pop(),
    "list remove": lambda seen: seen.remove(seen[0]),
    "list clear": lambda seen: seen.clear(),
    "list sort": lambda seen: seen.sort(key=str),
    "list reverse": lambda seen: seen.reverse(),
    "list item": lambda seen: seen.__setitem__(0, {}),
    "list del": lambda seen: seen.__delitem__(0),
    "list +=": lambda seen: seen.__iadd__([{}]),
    "list *=": lambda seen: seen.__imul__(2),
    "dict item": lambda seen: seen[0].__setitem__("content", ""),
    "dict del": lambda seen: seen[0].__delitem__("content"),
    "dict update": lambda seen: seen[0].update(content=""),
    "dict pop": lambda seen: seen[0].pop("content"),
    "dict popitem": lambda seen: seen[0].popitem(),
    "dict clear": lambda seen: seen[0].clear(),
    "dict setdefault": lambda seen: seen[0].setdefault("name", ""),
    "dict |=": lambda seen: seen[0].__ior__({"name": ""}),
    "part of a content": lambda seen: seen[0]["content"][0].update(text=""),
    "parts of a content": lambda seen: seen[0]["content"].append({}),
    "call": lambda seen: seen[1]["tool_calls"][0]["function"].update(name=""),
    "calls": lambda seen: seen[1]["tool_calls"].clear(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_each_change_is_an_error_that_says_to_copy(change: Callable[[Any], object]) -> None:
    seen = read_only_messages(MESSAGES)

    with pytest.raises(TypeError, match=r"read-only.*copy\.deepcopy\(messages\)"):
        change(seen)
    assert seen == MESSAGES


def test_every_method_that_changes_a_dict_or_a_list_is_one_of_these() -> None:
    """Also methods that a later Python adds: what is neither known to read nor refused fails
    here.
    """
    reads = {"copy", "count", "fromkeys", "get", "index", "items", "keys", "values"}
    seen = read_only_messages(MESSAGES)
    for value in (seen, seen[0]):
        for name in {each for each in dir(type(value)) if not each.startswith("_")} - reads:
            with pytest.raises(TypeError, match="read-only"):
                getattr(value, name)()


@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        lambda seen: json.loads(json.dumps(seen)),
        lambda seen: pickle.loads(pickle.dumps(seen)),
    ],
)
def test_deep_copies_are_plain_and_equal(copied: Callable[[Any], Any]) -> None:
    made = copied(read_only_messages(MESSAGES))

    assert made == MESSAGES
    made[0]["content"][0]["text"] = "changed"
    made[1]["tool_calls"].append({})
    made.append({})


def test_it_reads_as_a_list_of_dicts() -> None:
    seen = read_only_messages(MESSAGES)

    assert (seen[0]["role"], seen[1].get("none"), dict(seen[0]), [*seen]) == (
        "user",
        None,
        *MESSAGES[:1],
        MESSAGES,
    )
    for plain in (seen[:1], [*seen], seen * 2, seen.copy(), copy.copy(seen)):
        assert type(plain) is list
    for made in ({**seen[0]}, dict(seen[0]), seen[0].copy(), copy.copy(seen[0])):  # type: ignore[attr-defined]
        assert type(made) is dict
    assert isinstance(seen, list)
    assert isinstance(seen[1]["tool_calls"], list)
    assert repr(seen) == repr(MESSAGES)
    match seen[1]:
        case {"tool_calls": [{"function": {"name": name}}]}:
            assert name == "add"


def test_a_view_stays_what_it_was_in_its_turn() -> None:
    with sums() as env, Episode(env) as episode:
        episode.reset(TASK)
        first = episode.view
        episode.step(call("add", a=2, b=3))

        assert (len(first), len(episode.view)) == (1, 3)
        assert first[0] is episode.view[0]
        episode.step("5")
        assert episode.trajectory is not None
        assert [type(each) for each in episode.trajectory.messages] == [dict] * 4
