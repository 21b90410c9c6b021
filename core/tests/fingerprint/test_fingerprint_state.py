"""Two settings that differ in a verdict differ in the fingerprint, and equal ones have equal
fingerprints.
"""

import os
import subprocess
import sys
import threading
from functools import cached_property
from pathlib import Path

import attrs
import pytest
from fingerprint_stages import FORMS, Private, built
from hypothesis import given
from hypothesis import strategies as st
from rlenv import ConfigError, Environment, Outcome, Slot, Task
from rlenv.identity.state import State, makeup

TASK = Task("say something", id="t")
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


def name(stage, **rest):
    return Environment("e", [Slot("s", stage, **rest)]).fingerprint


def text(value):
    return State().of(value, "it")


@pytest.mark.parametrize("form", FORMS)
def test_a_setting_that_changes_the_verdict_changes_the_fingerprint(form):
    tight = built(form, 1)
    loose = built(form, 9)
    verdicts = [Environment("e", stage).verify(TASK, "four") for stage in (tight, loose)]
    assert verdicts == [0.0, 1.0]
    assert name(built(form, 1)) == name(built(form, 1)) != name(built(form, 9))


def test_fingerprints_are_the_same_in_every_process():
    code = (
        "import sys; sys.path.append(sys.argv[1])\n"
        "from fingerprint_stages import FORMS, built\n"
        "from rlenv import Environment, Slot\n"
        "for form in FORMS:\n"
        "    print(Environment('e', [Slot('s', built(form, 9))]).fingerprint)"
    )
    helpers = str(Path(__file__).parent / "helpers")
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, helpers],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("0", "1")
    ]
    here = [name(built(form, 9)) for form in FORMS]
    for process in started:
        assert process.communicate()[0].split() == here
        assert process.returncode == 0


@given(VALUES, VALUES)
def test_values_have_one_text_where_they_are_equal_and_of_one_kind(one, other):
    copy = eval(repr(one))
    assert text(one) == text(copy)
    assert (text(one) == text(other)) == (repr_of(one) == repr_of(other))


def repr_of(value):
    """A text that sorts tables, and tells 1, 1.0 and True apart."""
    if isinstance(value, dict):
        return repr(sorted((key, repr_of(item)) for key, item in value.items()))
    if isinstance(value, (list, tuple)):
        return repr([type(value).__name__, *map(repr_of, value)])
    return repr(value)


def test_the_order_of_a_table_does_not_count_and_that_of_a_list_does():
    assert text({"a": 1, "b": [2]}) == text({"b": [2], "a": 1})
    assert text([1, 2]) != text([2, 1])
    assert text({1: "a"}) != text({"1": "a"})


def test_what_was_written_counts_beside_what_the_stage_keeps():
    class Forgets:
        where = "inline"

        def __init__(self, limit=3):
            type(self).most = limit  # where no fingerprint looks

        def check(self, attempt):
            return Outcome(float(len(attempt.response) < self.most))

        def __rlenv_state__(self):
            return ()

    def written(**options):
        return name(Forgets(), options=options)

    assert written(limit=1) != written(limit=9)
    assert written(limit=3) == written(limit=3.0) == written()


class without_a_lock(cached_property[object]):
    def __get__(self, obj, owner=None):
        return vars(obj).setdefault(self.attrname, self.func(obj)) if obj else self


class Lazy:
    where = "inline"

    def __init__(self):
        self.seen = {}

    @cached_property
    def table(self):
        return {"a": 1}

    @without_a_lock
    def index(self):
        return {"b": 1}

    def validate(self, task):
        self.seen[task.id] = self.table

    def check(self, attempt):
        self.seen[attempt.response] = 1
        return Outcome(1.0)


def test_what_a_stage_keeps_of_tasks_and_responses_does_not_count():
    bare = Environment("e", Lazy())
    used = Environment("e", Lazy(), [TASK])
    used.verify(TASK, "x")
    assert used.fingerprint == bare.fingerprint
    stage = Lazy()
    before = makeup(stage)
    assert stage.table
    assert stage.index
    assert makeup(stage) == before


class Default:
    """A descriptor without ``__set__``: the value of a class until an object has one."""

    def __get__(self, obj, owner=None):
        return 5


def test_a_setting_in_the_place_of_a_default_counts():
    class Limited:
        where = "inline"
        limit = Default()

        def __init__(self, limit):
            self.limit = limit

        def check(self, attempt):
            return Outcome(float(len(attempt.response) < self.limit))

    assert name(Limited(1)) != name(Limited(9))


def _generator():
    yield 1


OPAQUE = {
    "generator": _generator,
    "open file": lambda: open(os.devnull),  # noqa: SIM115
    "frame": sys._getframe,
}


@pytest.mark.parametrize("kind", OPAQUE)
def test_an_object_whose_state_cannot_be_seen_is_rejected_by_name(kind):
    held = OPAQUE[kind]()
    try:
        with pytest.raises(ConfigError, match=r"s\._limit is an object of .*__rlenv_state__"):
            Environment("e", [Slot("s", Private(held))])
        with pytest.raises(ConfigError, match=r"s\._limit\[0\]\['a'\] is an object of"):
            Environment("e", [Slot("s", Private([{"a": held}]))])

        def closes(response):
            return held is None

        inner = pytest.raises(ConfigError, match="closes over held, which is an object of")
        with inner:
            makeup(closes)
    finally:
        getattr(held, "close", int)()


def test_a_lock_is_no_setting():
    assert name(Private(threading.Lock())) == name(Private(threading.Lock()))
    assert name(Private(threading.Event())) == name(Private(threading.Event()))


def test_the_remedies_for_such_an_object_work():
    class Client:
        def __init__(self, model):
            self.stream = _generator()
            self.model = model

        def __rlenv_state__(self):
            return self.model

    @attrs.define
    class Judge:
        model: str
        stream: object = attrs.field(factory=_generator, metadata={"state": False})
        where = "inline"

        def check(self, attempt):
            return Outcome(1.0)

    for make in (lambda model: Private(Client(model)), Judge):
        assert name(make("a")) == name(make("a")) != name(make("b"))


def test_what_is_nested_too_deep_is_rejected():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ConfigError, match="nested too deep"):
        Environment("e", Private(deep))
    while deep:  # freeing it at once would be as deep
        deep = deep[0]
