"""The fenced blocks of a text."""

from __future__ import annotations

import pytest
from growth import assert_linear
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv.text import fenced_blocks, last_block, line_of, whole_block


def found(text: str) -> list[tuple[str, str]]:
    return [(block.language, block.text) for block in fenced_blocks(text)]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("", []),
        ("plain", []),
        ("```\nx\n```", [("", "x\n")]),
        ("```python\nx\n```", [("python", "x\n")]),
        ("~~~js\nx\n~~~", [("js", "x\n")]),
        ("``` Python \nx\n```", [("python", "x\n")]),
        ("```{.python .numberLines}\nx\n```", [("python", "x\n")]),
        ('```python title="a"\nx\n```', [("python", "x\n")]),
        ("```c++\nx\n```", [("c++", "x\n")]),
        ("````\n```\nx\n```\n````", [("", "```\nx\n```\n")]),
        ("```\nx\n`````  ", [("", "x\n")]),
        ("`````\nx\n```\n`````", [("", "x\n```\n")]),
        ("```\nx\n~~~\n```", [("", "x\n~~~\n")]),
        ("~~~\n```\n~~~", [("", "```\n")]),
        ("~~~ a`b\nx\n~~~", [("a", "x\n")]),
        ("```a`b```\nx", []),
        ("``\nx\n``", []),
        ("   ```\n   x\n     y\n   ```", [("", "x\n  y\n")]),
        ("    ```\n    x\n    ```", []),
        ("1. a\n\n     ```py\n     x\n     ```", [("py", "x\n")]),
        ("- ```py\n  x\n  ```\n- b", [("py", "x\n")]),
        ("1. - ```py\n     x\n     ```", [("py", "x\n")]),
        ("```\nx\n    ```\ny\n```", [("", "x\n    ```\ny\n")]),
        ("```py\nx", [("py", "x")]),
        ("```py\nx\n\nmore", [("py", "x\n\nmore")]),
        ("```py\nx```", [("py", "x")]),
        ("```py\nx\n``` which is x.\nMore.", [("py", "x\n")]),
        ("```py\nx\n```\n```\n```\n~~~js\ny", [("py", "x\n"), ("", ""), ("js", "y")]),
        ("```markdown\ntext\n```py\nx\n```\n", [("py", "x\n")]),
        ("````md\n```py\nx\n```\n````", [("py", "x\n"), ("", "")]),
        ("```py\r\nx\r\ny\r\n```\r\n", [("py", "x\r\ny\r\n")]),
        ("```py\rx\r```", [("py", "x\r")]),
        ("\ufeff```py\nx\n```", [("py", "x\n")]),  # behind a byte order mark
        ("a\n\ufeff```py\nx\n```", [("", "")]),
        ("text ```py\nx\n```", [("", "")]),
        ("\t```\nx\n```", [("", "")]),
    ],
)
def test_blocks_are(text: str, blocks: list[tuple[str, str]]) -> None:
    assert found(text) == blocks


def test_blocks_of_some_languages() -> None:
    text = "```python3.11\na\n```\n```\nb\n```\n```js\nc\n```\n```py\n\n```"
    assert [block.text for block in fenced_blocks(text, ["python3", "js"])] == ["a\n", "c\n"]
    assert [block.text for block in fenced_blocks(text, [""])] == ["b\n"]
    assert [block.text for block in fenced_blocks(text, [])] == []


def test_the_last_block_of_a_language_else_the_last_without_one() -> None:
    text = "```py\na\n```\n```\nb\n```\n```js\nc\n```\n```py\n\n```"
    for languages, last in ((["py"], "a\n"), (["js"], "c\n"), (["c"], "b\n")):
        block = last_block(text, languages)
        assert block is not None
        assert block.text == last
    assert last_block("```js\nc\n```", ["py"]) is None


def test_a_block_tells_where_it_stands() -> None:
    text = "a\n  ```py\n  x\n  ```\nb"
    (block,) = fenced_blocks(text)
    assert text[block.start : block.end] == "  x\n"
    assert text[slice(*block.outer)] == "  ```py\n  x\n  ```\n"
    assert block.closed
    assert line_of(text, block.start) == 3
    assert not next(fenced_blocks("```py\nx")).closed


def test_a_byte_order_mark_is_not_text_around_a_block() -> None:
    (block,) = fenced_blocks("\ufeff```py\nx\n```")

    assert block.outer == (0, 12)


def test_lines_end_in_three_ways() -> None:
    text = "a\r\nb\rc\nd"
    assert [line_of(text, text.index(letter)) for letter in "abcd"] == [1, 2, 3, 4]


def test_a_source_has_line_ends_of_one_kind() -> None:
    (block,) = fenced_blocks("```\r\na\r\rb\r\n\r\n```")
    assert block.source == "a\n\nb\n"


@pytest.mark.parametrize(
    ("text", "held", "start"),
    [("x", "x", 0), ("\n \n  x\n\n", "  x", 3), ("\r\n\rx ", "x", 3), ("\ufeffx", "x", 0)],
)
def test_a_whole_text_as_a_block(text: str, held: str, start: int) -> None:
    block = whole_block(text)
    assert block is not None
    assert (block.text, block.start) == (held, start)


def test_a_blank_text_is_no_block() -> None:
    assert whole_block("") is None
    assert whole_block(" \n\t") is None


LINES = [
    "```python",
    "```py",
    "```",
    "~~~python",
    "~~~",
    "````python",
    "````",
    "  ```",
    "   ```python",
    "x = 1",
    "    y = 2",
    "",
    "text",
    "``` x",
    "```a`b```",
    "~~~ python x",
    "`````",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=9))
def test_fences_are_read_as_commonmark_reads_them(lines: list[str]) -> None:
    """But where a block ends that is never closed, which has rules of ours."""
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark")
    text = "\n".join(lines) + "\n"
    expected = [token for token in parser.parse(text) if token.type == "fence"]
    for token, block in zip(expected, fenced_blocks(text), strict=True):
        assert text.count("\n", 0, block.outer[0]) == token.map[0]
        assert block.language == (token.info.split() or [""])[0]
        if block.closed:
            assert block.text == token.content


@settings(deadline=None)
@given(st.text(st.sampled_from("`~ \n\t-1.*pymd\r\ud800")))
def test_any_text_has_blocks_or_none(text: str) -> None:
    end = 0
    for block in fenced_blocks(text):
        assert end <= block.outer[0] <= block.start <= block.end <= block.outer[1] <= len(text)
        end = block.outer[1]


BIG = {
    "one run": "`",
    "empty fences": "```\n",
    "open fences": "```python\n",
    "deep fences": "     ```\n",
    "lists": "- ```\n",
    "list marks": "- 1. ",
    "tildes": "~~~ x\n",
    "code before the end": "x```y\n",
    "spaces": " ",
    "an open block": "```\n" + "x ``` y\n" * 50,
}


@pytest.mark.parametrize("name", BIG)
def test_finding_blocks_takes_time_in_proportion(name: str) -> None:
    assert_linear(lambda text: list(fenced_blocks(text)), BIG[name])
