"""Whether a response begins with a verb: by the lists of verbs and a tagger, and loudly without
one.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv import ConfigError, Environment, Task
from rlenv_plugin_constraints import verbs
from rlenv_plugin_constraints.registry import build
from rlenv_plugin_constraints.stages.all import All
from rlenv_plugin_constraints.stages.ifeval import IFEval
from rlenv_plugin_constraints.text import Text

VERBS = """Grab a coat.|Paint the fence white.|Guard your time.|Question everything you read.
Mind the gap.|Point to the map.|Name three rivers.|Rest when tired.|Fear not.|Face the wall.
Land softly.|Pack light.|Was it good?|Having eaten, we left.|Built in 1900, it stands.
Don't go.|Don’t go.|**Write** it down.|Go|"Plan the trip early," she said.|- Walk on.
Can you hear it?|Let's go.|let us GO|Peel two apples."""
OTHERS = """Hope is a good thing.|Fear grows in silence.|Smiles cost nothing.|Plans change.
Dreams come true.|Water boils at 100 degrees.|Ships sail at dawn.|Names matter.
Exercise helps.|Like a river it flows.|Please write it.|My cat sleeps.|Above all, be kind.
The answer is no.|Guards stood by the gate.|Thanks!|Quickly she ran.|Paris is big.
Hello there!|No one came.|Because of rain, we stayed.|猫|😀|12|It goes."""
WRONG_BY_LIST = ("Plans change.", "Dreams come true.", "Fear grows in silence.")


def rows(text: str) -> list[str]:
    return [row for line in text.splitlines() for row in line.split("|")]


@pytest.fixture
def without_tagger(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(verbs, "version", missing)
    verbs.tagger.cache_clear()
    yield
    verbs.tagger.cache_clear()


@pytest.mark.parametrize(
    ("raw", "fits"), [(r, True) for r in rows(VERBS)] + [(r, False) for r in rows(OTHERS)]
)
def test_the_first_word_is_a_verb_or_is_not(raw: str, fits: bool) -> None:
    assert build({"kind": "starts_with_verb"}).check(Text(raw)).satisfied is fits


def test_the_list_alone_needs_no_tagger_and_takes_nouns_for_verbs(without_tagger: None) -> None:
    alone = build({"kind": "starts_with_verb", "by": "list"})
    assert alone.check(Text("Plan the trip.")).satisfied
    assert all(alone.check(Text(raw)).satisfied for raw in WRONG_BY_LIST)
    assert not alone.check(Text("My cat sleeps.")).satisfied


def test_a_missing_tagger_is_reported_at_load_with_what_installs_it(without_tagger: None) -> None:
    remedy = 'pip install "textblob>=0.20.1,<0.21", or write by = "list"'
    with pytest.raises(ConfigError) as refused:
        All(constraints=[{"kind": "starts_with_verb"}])
    assert remedy in str(refused.value)
    columns = {"instruction_id_list": ["words:start_verb"], "kwargs": [{}]}
    with pytest.raises(ConfigError) as refused:
        Environment("e", IFEval(), [Task("Say it.", info=columns, id="1")])
    assert remedy in str(refused.value)


def test_another_version_is_no_tagger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verbs, "version", lambda _: "1.0.0")
    verbs.tagger.cache_clear()
    with pytest.raises(ConfigError, match=r"textblob 1\.0\.0 is installed"):
        build({"kind": "starts_with_verb"})
    verbs.tagger.cache_clear()


@given(st.text(st.sampled_from("Go/&;'’-\ud800\U0001f600é\x00\n. <猫_*n"), max_size=40))
def test_any_text_gets_a_finding(raw: str) -> None:
    found = build({"kind": "starts_with_verb"}).check(Text("Go" + raw))
    assert isinstance(found.satisfied, bool)
