"""CSV, YAML and XML tags: strict forms, and real readers beside ours."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import ConfigError
from rlenv_plugin_constraints.kinds.csvs import Csv, read_csv
from rlenv_plugin_constraints.kinds.xml_tags import XmlTags
from rlenv_plugin_constraints.kinds.yamls import Yaml
from rlenv_plugin_constraints.text import Text

CELLS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\x85\u2028\u2029"), max_size=6
)
ROWS = st.integers(2, 4).flatmap(
    lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=5)
)


@given(ROWS, st.sampled_from(",;\t|"), st.booleans())
def test_what_the_csv_module_writes_is_read_the_same(
    rows: list[list[str]], delimiter: str, quoted: bool
) -> None:
    out = io.StringIO()
    quoting: Any = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    csv.writer(out, delimiter=delimiter, quoting=quoting).writerows(rows)
    assert read_csv(out.getvalue(), delimiter, quoted=quoted) == rows


@pytest.mark.parametrize(
    ("rule", "response", "fits"),
    [
        (Csv(columns=("a", "b"), rows=2), "a,b\n1,2\n3,4", True),
        (Csv(columns=("a", "b"), rows=2), "a,b\r\n1,2\r\n3,4\r\n", True),
        (Csv(columns=("a", "b"), rows=2), "```csv\na,b\n1,2\n3,4\n```", True),
        (Csv(columns=("a", "b"), rows=2), "a,b\n1,2", False),
        (Csv(columns=("a", "b")), "b,a\n1,2", False),
        (Csv(columns=("a", "b")), "a,b\n1,2,3", False),
        (Csv(columns=("a", "b")), "a;b\n1;2", False),
        (Csv(columns=("a", "b")), "Here it is:\na,b\n1,2", False),
        (Csv(columns=("a", "b")), "a,b\n\n1,2", False),
        (Csv(columns=("a", "b")), 'a,b\n"x, y",2', True),
        (Csv(columns=("a", "b")), 'a,b\n"x ""y"" z",2', True),
        (Csv(columns=("a", "b")), 'a,b\nx "y" z,2', False),
        (Csv(columns=("a", "b")), 'a,b\n"x,2', False),
        (Csv(columns=("a", "b")), 'a,b\n"x"y,2', False),
        (Csv(), "Hello there", False),
        (Csv(), "Hello, there", False),
        (Csv(), ",\n,", False),
        (Csv(), "a,b\n,", False),
        (Csv(), "a,a\n1,2", False),
        (Csv(columns=3, header=False, rows=1), "1,2,3", True),
        (Csv(quoting="all", delimiter="\t"), '"a"\t"b"\n"1"\t"2"', True),
        (Csv(quoting="all", delimiter="\t"), '"a"\tb\n"1"\t"2"', False),
        (Csv(max_rows=1), "a,b\n1,2\n3,4", False),
    ],
)
def test_csv(rule: Csv, response: str, fits: bool) -> None:
    assert rule.check(Text(response)).satisfied is fits


@pytest.mark.parametrize(
    "options",
    [
        {"columns": ()},
        {"columns": ("a", "a")},
        {"columns": 0},
        {"delimiter": '"'},
        {"delimiter": ",,"},
        {"rows": 0},
        {"rows": 1, "max_rows": 2},
        {"min_rows": 3, "max_rows": 2},
        {"columns": ("a",), "header": False},
    ],
)
def test_csv_options_that_make_no_sense(options: Any) -> None:
    with pytest.raises(ConfigError):
        Csv(**options)


@given(
    st.recursive(
        st.integers() | st.text(st.characters(codec="ascii", categories=["L", "N"]), max_size=5),
        lambda i: (
            st.lists(i, max_size=3)
            | st.dictionaries(st.text("abc", min_size=1, max_size=3), i, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_what_yaml_writes_is_yaml(value: Any) -> None:
    assert Yaml(type="any").check(Text(yaml.safe_dump(value))).satisfied


@pytest.mark.parametrize(
    ("response", "fits"),
    [
        ("a: 1\nb:\n  - x\n  - y", True),
        ("```yaml\na: 1\n```", True),
        ("- 1\n- 2", True),
        ("a: &x 1\nb: *x", True),
        ("b: *x", False),
        ("just some prose", False),
        ("", False),
        ("a: 1\na: 2", False),
        ("a: {b: 1, b: 2}", False),
        ("a: !!python/object/apply:os.system [ls]", False),
        ("!x a: 1", False),
        ("%YAML 1.1\n---\na: 1", False),
        ("a: 1\n---\nb: 2", False),
        ("a: [1", False),
        ("a:\n\t- 1", False),
        ("a: \x00", False),
        ("\ud800: 1", False),
        ("[" * 10_000, False),
        ("- " * 10_000, False),
        ("{a: " * 10_000, False),
    ],
)
def test_yaml(response: str, fits: bool) -> None:
    assert Yaml().check(Text(response)).satisfied is fits


def test_a_bomb_of_aliases_is_never_expanded() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(
        f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60)
    )
    found = Yaml().check(Text(bomb))
    assert not found.satisfied
    assert "aliases" in found.note
    assert not Yaml(aliases=False).check(Text("a: &x 1\nb: *x")).satisfied


TWO = XmlTags(tags=("think", "answer"))


@pytest.mark.parametrize(
    ("rule", "response", "fits"),
    [
        (TWO, "<think>a</think> so <answer>5</answer>", True),
        (TWO, "<answer>5</answer><think>a</think>", False),
        (TWO, "<think>a</think><answer>5</answer><answer>6</answer>", False),
        (TWO, "<think>a<answer>5</answer></think>", False),
        (TWO, "<think>a</think><answer>5", False),
        (TWO, "<think></think><answer>5</answer>", False),
        (TWO, "<think>a</think><answer/>", False),
        (TWO, "<think>a</think><answer> \n</answer>", False),
        (TWO, "<think>a</think><answer>&nbsp;&#8203;</answer>", False),
        (TWO, "<think>a</think><answer>\u200b\u3164</answer>", False),
        (TWO, "<think>a</think><answer><b></b></answer>", False),
        (TWO, "<think>a</think><answer><!-- 5 --></answer>", False),
        (TWO, "<think>a</think><!-- <answer>5</answer> -->", False),
        (TWO, "<think>a</think><answer>5</answer><!-- <answer>6</answer> -->", False),
        (TWO, "<think>a</think><![CDATA[<answer>5</answer>]]>", False),
        (TWO, "<think>a</think><Answer>5</Answer>", False),
        (TWO, "<think>a</think><answer>5</answer><ANSWER>6</ANSWER>", False),
        (TWO, "<think>a</think><answer id='1'>5</answer>", False),
        (TWO, "<think>a</think>&lt;answer&gt;5&lt;/answer&gt;", False),
        (TWO, "<think>a</think><аnswer>5</аnswer>", False),
        (TWO, "<!DOCTYPE x [<!ENTITY e '5'>]><think>a</think><answer>&e;</answer>", False),
        (TWO, "<think>a < b</think><answers>1</answers><answer>5</answer>", True),
        (XmlTags(tags=("a",), attributes=True), '<a id="1">x</a>', True),
        (XmlTags(tags=("a", "b"), nested=True), "<a>1<b>2</b></a>", True),
        (XmlTags(tags=("a", "b"), nested=True), "<a>1</a><b>2</b>", False),
        (XmlTags(tags=("a", "b"), only=True), "<a>1</a>\n<b>2</b>\n", True),
        (XmlTags(tags=("a", "b"), only=True), "<a>1</a> so <b>2</b>", False),
    ],
)
def test_xml_tags(rule: XmlTags, response: str, fits: bool) -> None:
    assert rule.check(Text(response)).satisfied is fits


@pytest.mark.parametrize("tags", [(), ("<a>",), ("a", "a"), ("a", "A"), ("",), ("1a",)])
def test_tags_that_are_no_names(tags: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError):
        XmlTags(tags=tags)


@pytest.mark.parametrize("unit", ["<a>", "<a ", "<!--", "a,b\n", '"', "```\n"])
@pytest.mark.parametrize(
    "rule", [Csv(columns=3), Yaml(), XmlTags(tags=("a",))], ids=["csv", "yaml", "xml"]
)
def test_work_grows_with_the_response_and_no_faster(rule: Any, unit: str) -> None:
    assert not rule.check(Text(unit * 5000)).satisfied
    assert_linear(lambda text: rule.check(Text(text)), unit)
