"""The sandbox port: its values refuse what makes no sense, and an adapter is found by its name."""

from __future__ import annotations

import asyncio
import pickle

import pytest
from rlenv import sandbox
from rlenv.model.errors import ConfigError, PluginError
from rlenv.plugins.registry import registry
from rlenv.sandbox import port


class Nowhere:
    def __init__(self, **options: object) -> None:
        self.options = options


@pytest.fixture
def nowhere(monkeypatch):
    def parts(port: str, name: str) -> type:
        assert (port, name) == ("sandbox", "nowhere")
        return Nowhere

    monkeypatch.setattr(registry(), "parts", parts)
    monkeypatch.setattr(port, "_open", {})


def test_tiers_are_ranked_from_the_weakest():
    ranks = [sandbox.rank(tier) for tier in ("process", "container", "jail", "gvisor", "microvm")]

    assert ranks == [0, 1, 2, 3, 4]


def test_an_unknown_tier_is_refused_with_those_there_are():
    with pytest.raises(ConfigError, match=r"process, container, jail, gvisor, microvm .*'vm'"):
        sandbox.Profile(min_isolation="vm")


@pytest.mark.parametrize("limit", ["cpu_s", "wall_s", "memory_mb", "pids"])
def test_a_limit_of_nothing_is_refused(limit):
    with pytest.raises(ValueError, match=limit):
        sandbox.Profile(**{limit: 0})


def test_profiles_of_the_same_content_are_one_key():
    ours = sandbox.Profile(files={"b.py": b"2", "a.py": b"1"}, preload=["json"])
    theirs = sandbox.Profile(files={"a.py": b"1", "b.py": b"2"}, preload=("json",))

    assert len({ours, theirs}) == 1
    assert pickle.loads(pickle.dumps(ours)) == theirs


def test_the_default_minimum_is_a_jail():
    assert sandbox.Profile().min_isolation == "jail"


@pytest.mark.usefixtures("nowhere")
def test_one_sandbox_per_name_and_options():
    one = sandbox.get("nowhere", image="a")

    assert sandbox.get("nowhere", image="a") is one
    assert sandbox.get("nowhere", image="b") is not one


def test_a_sandbox_that_nobody_supplies_is_an_error_with_the_remedy():
    with pytest.raises(PluginError, match=r"no plugin 'zeppelin' is installed; installed are: "):
        sandbox.get("zeppelin/vm")


class Closes(Nowhere):
    closed = 0

    async def aclose(self) -> None:
        type(self).closed += 1


def test_all_sandboxes_end_at_once_from_within_a_loop_too(monkeypatch):
    monkeypatch.setattr(port, "_open", {("a", ()): Closes(), ("b", ()): Closes()})

    async def body() -> None:
        sandbox.close_all()

    asyncio.run(body())

    assert Closes.closed == 2
    assert port._open == {}
