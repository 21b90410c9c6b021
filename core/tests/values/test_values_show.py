"""What ``print`` and a notebook show of a verdict: enough to understand it, and nothing that
harms.
"""

from html.parser import HTMLParser
from unicodedata import east_asian_width

from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv import AnyOf, Attempt, Environment, Fault, Outcome, Slot, StageResult, Task, Verdict

TASK = Task("What is 1 + 1?", answer="two", id="sum")


@frozen
class Says:
    """The score and detail that it was given; raises without a score."""

    score: float | None
    detail: str = ""

    phase = "diff"
    where = "inline"

    def check(self, attempt: Attempt) -> Outcome:
        if self.score is None:
            raise ValueError(self.detail)
        return Outcome(self.score, self.detail, {}, None, {"gold": "operator's own"})


def verdict_of(*slots):
    return Environment("e", slots).evaluate(TASK, "2")


def test_a_printed_verdict_explains_each_stage_and_the_reward():
    inner = AnyOf([Slot("a", Says(0.0)), Slot("b", Says(1.0, "the same"))])
    found = verdict_of(
        Slot("right", Says(0.5, "half of it"), weight=3),
        Slot("short", Says(0.0), penalty=0.25),
        Slot("inner", inner, bonus=2),
    )
    assert str(found).splitlines() == [
        "reward 1 (the sum 2.25, clamped)",
        "  right: score 0.5",
        "      half of it",
        "  short: score 0",
        "  inner: score 1",
        "  inner/a: score 0",
        "  inner/b: score 1",
        "      the same",
    ]


def test_a_printed_verdict_names_the_gate_that_ended_it():
    found = verdict_of(Slot("first", Says(0.5), weight=1, gate=0.75), Slot("later", Says(1.0)))
    assert str(found).splitlines() == [
        "reward 0; stopped at first",
        "  first: score 0.5",
    ]


def test_a_printed_fault_says_what_broke_and_its_public_verdict_only_the_kind():
    found = verdict_of(Slot("judge", Says(None, "no luck")))
    told = str(found)
    assert told.startswith("unscored: a required stage failed; stopped at judge\n")
    assert "\n  judge: no score\n" in told
    assert "fault: error: ValueError: no luck" in told
    assert "luck" not in str(found.public()) + found.public()._repr_html_()


def test_a_row_that_was_no_row_says_so():
    with Environment("e", [Slot("right", Says(1.0))]) as env:
        (found,) = env.evaluate_many([None])
    assert str(found).startswith("unscored: fault: input: a row is ")
    assert "a row is " in found._repr_html_()


def test_the_repr_of_a_verdict_is_short():
    found = verdict_of(*(Slot(f"s{i}", Says(1.0, "x" * 500)) for i in range(9)))
    assert repr(found) == "<Verdict 1.0, 9 stages>"
    assert repr(Verdict(None)) == "<Verdict unscored, 0 stages>"


LONG = 10_000
hostile = st.one_of(
    st.text(),
    st.text(st.characters(exclude_categories=[])),
    st.sampled_from(["x", "\u5b57", " ", "&", "\x1b", "e\u0301"]).map(lambda part: part * LONG),
    st.sampled_from(
        [
            "\x1b[2J\x1b]0;title\x07",
            "<script>alert(1)</script>",
            "\ud800\u202e\r\n",
            "\x00",
            "</td></table><img src=x onerror=y>",
            "&lt;b&gt;",
        ]
    ),
)
results = st.recursive(
    st.one_of(
        st.builds(
            lambda name, detail: StageResult(name, Outcome(0.5, detail, {}, None, {"gold": "OWN"})),
            hostile,
            hostile,
        ),
        st.builds(
            lambda name, said: StageResult(name, None, Fault("error", said, True)), hostile, hostile
        ),
    ),
    lambda below: st.builds(
        lambda name, children: StageResult(name, Outcome(1.0), None, 0.0, tuple(children)),
        hostile,
        st.lists(below, max_size=3),
    ),
    max_leaves=5,
)
verdicts = st.builds(
    lambda found, name, said: Verdict(None, tuple(found), name, "", None, Fault("error", said)),
    st.lists(results, max_size=3),
    hostile,
    hostile,
)


def columns(line):
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in line)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add((tag, tuple(attrs)))


@settings(max_examples=200, deadline=None)
@given(verdicts)
def test_hostile_text_is_shown_escaped_and_cut(verdict):
    told = str(verdict)
    assert "OWN" not in told
    assert told.encode("utf-8")
    assert not set(map(chr, [*range(10), *range(11, 32), *range(127, 160), 0x202E])) & set(told)
    assert max(map(columns, told.split("\n"))) <= 100

    page = verdict._repr_html_()
    parsed = Tags()
    parsed.feed(page)
    assert parsed.tags <= {(tag, ()) for tag in ("table", "caption", "tr", "td")}
    assert "OWN" not in page
    assert page.encode("utf-8")
    stages = told.count("\n") + 1
    assert len(page) < 6 * 400 * 4 * (stages + 1)
