"""What a stage declares is checked: misspelled names and wrong values are errors that say what to
write.
"""

import pytest
from rlenv import Attempt, ConfigError, Environment, Outcome, Task, stage
from rlenv.compose.stages import ATTRIBUTES, DECLARED

TASK = Task("p", answer="yes")


def build(**attributes):
    """An environment of one stage whose class has these attributes."""

    def check(self, attempt):
        return Outcome(1.0)

    return Environment("e", type("Mine", (), {"check": check, **attributes})())


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("were", "inline", "where"),
        ("use", ("answer",), "uses"),
        ("need", (int,), "needs"),
        ("default_gates", 1.0, "default_gate"),
        ("defualt_timeout", 1.0, "default_timeout"),
        ("phases", "diff", "phase"),
        ("make", (int,), "makes"),
        ("valdate", lambda self, task: None, "validate"),
        ("surveys", lambda self, tasks: [], "survey"),
        ("check_groups", lambda self, attempts: [], "check_group"),
    ],
)
def test_a_misspelled_attribute_is_an_error_with_the_nearest_name(name, value, meant):
    with pytest.raises(ConfigError, match=f'"{name}", which would be ignored; .* "{meant}"'):
        build(**{name: value})


class Lazy:
    """A descriptor that is of no use on the class."""

    def __get__(self, stage, owner):
        raise RuntimeError


def test_other_names_are_the_authors_own():
    env = build(
        seed=0,
        task="x",
        mask=(),
        shape=(1,),
        even=True,
        seen=(),
        stake=1,
        lazy=Lazy(),
        limit=3,
        name="x",
        take=lambda self: 1,
        _were=1,
        weights=(1,),
        describe=property(len),
    )
    assert env.verify(TASK, "") == 1.0


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("uses", "answer", r'uses is a tuple of paths, not \'answer\'; write uses = \("answer",\)'),
        ("needs", int, r"needs is a tuple of types, not <class 'int'>; write needs = \(int,\)"),
        ("where", "moon", "where is one of worker, caller, inline, not 'moon'"),
        ("where", ["inline"], "where is one of"),
        ("phase", "guess", "phase is one of parse, compile"),
        ("default_gate", 2, r"default_gate is a number in \[0, 1\], not 2"),
        ("default_gate", True, "default_gate is a number"),
        ("default_timeout", 0, "a number of seconds > 0"),
        ("default_timeout", float("inf"), "a number of seconds > 0"),
        ("at_once", 0, "at_once is an integer ≥ 1"),
        ("deterministic", "no", "deterministic is True or False"),
        ("inline_limit", -1, "inline_limit is an integer ≥ 0"),
        ("makes", ("Words",), "makes is a tuple of types"),
        ("env", "HF_TOKEN", r'write env = \("HF_TOKEN",\)'),
    ],
)
def test_a_value_of_a_wrong_type_is_an_error(name, value, says):
    with pytest.raises(ConfigError, match=says):
        build(**{name: value})
    with pytest.raises(ConfigError, match=says):
        stage(**{name: value})


def test_all_mistakes_of_all_stages_are_reported_at_once():
    with pytest.raises(ConfigError) as caught:
        build(were="inline", phase="guess", uses="answer")
    assert len(caught.value.problems) == 3


def test_the_decorator_has_only_what_a_stage_may_declare():
    with pytest.raises(ConfigError, match='@stage has no argument "were"; did you mean "where"'):
        stage(were="inline")
    with pytest.raises(ConfigError, match="declares a function or a class"):
        stage(where="inline")(3)


def test_the_decorator_returns_what_it_decorates():
    def score(response):
        return 1.0

    class Score:
        def check(self, attempt: Attempt) -> Outcome:
            return Outcome(1.0)

    assert stage(score) is score
    assert stage(where="inline", phase="parse")(score) is score
    assert getattr(score, DECLARED) == {"where": "inline", "phase": "parse"}
    assert stage(where="inline")(Score) is Score
    assert Score.where == "inline"
    assert Environment("e", Score()).places == {"inline"}


def test_a_stage_without_a_phase_is_a_diff_and_out_of_no_order():
    def late(response):
        return 1.0

    judge = stage(phase="judge", where="inline")(lambda response: 1.0)
    env = Environment("e", [judge, stage(where="inline")(late)])
    assert env.warnings == []
    early = stage(phase="parse", where="inline")(lambda response: 1.0)
    assert "is listed after" in Environment("e", [judge, early]).warnings[0]


def test_the_table_is_complete():
    assert all(a.expected and a.meaning for a in ATTRIBUTES.values())
    for name, known in ATTRIBUTES.items():
        assert known.default in (None, ()) or known.is_valid(known.default), name
