"""The program of a response, wherever it is in it."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from growth import assert_linear
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv.compose.stages import Attempt
from rlenv.model.errors import ConfigError
from rlenv.model.values import Task
from rlenv_plugin_code.artifacts import Program
from rlenv_plugin_code.source import extract
from rlenv_plugin_code.source import program_of as program_of_attempt

FINAL = "def f(x):\n    return x + 1\n"


def of(response: str, language: str = "python") -> str:
    return extract(Attempt(Task("?"), response), language).text


def line(response: str) -> int:
    return extract(Attempt(Task("?"), response), "python").line


def program_of(
    response: str, language: str, *, prompt: str, prefix: str = "none", entry_point: str = "f"
) -> Program:
    attempt = Attempt(Task(prompt), response)
    return program_of_attempt(attempt, language, prefix=prefix, entry_point=entry_point)


@pytest.mark.parametrize(
    "response",
    [
        FINAL,
        f"```python\n{FINAL}```",
        f"~~~python\n{FINAL}~~~",
        f"```\n{FINAL}```",
        f"```py\n{FINAL}```",
        f"```Python3\n{FINAL}```",
        f"```python3.11 title=x\n{FINAL}```",
        f"``` python\n{FINAL}```",
        f"```{{.python .numberLines}}\n{FINAL}```",
        f"````python\n{FINAL}````",
        f"```python\n{FINAL}`````  ",
        f"```python\n{FINAL}",
        f"```python\n{FINAL.rstrip()}```",
        f"```python\n{FINAL}``` which adds one.\nAnd so on.",
        f"Here it is:\n\n```python\n{FINAL}```\nIt adds one.",
        f"1. First\n   ```python\n   {FINAL.rstrip().replace(chr(10), chr(10) + '   ')}\n   ```",
        f"```markdown\nThe answer\n```python\n{FINAL}```\n```",
        f"````md\n```python\n{FINAL}```\n````",
        f"```python\nx = 1\n```\nNo, rather:\n```python\n{FINAL}```",
        f"```\nx = 1\n```\n```python\n{FINAL}```\n```\n2\n```",
        f"```python\n{FINAL}```\n```output\n3\n```\n```text\n3\n```",
        f"```python\n{FINAL}```\n```python\n```",
        f"```js\nlet x\n```\n```\n{FINAL}```",
        f"<think>\n```python\nx = 1\n```\n</think>\n```python\n{FINAL}```",
        f"<think>one</think><think>two</think>\n{FINAL}",
        f"  <THINKING>\nhm, </thinking>\n\n{FINAL}",
        f"hm ```python\nx = 1\n```\n</think>\n{FINAL}",
        f"so it is.</think>\n{FINAL}",
        f"Well.\n<think>\n```python\nx = 1\n```\n</think>\n```python\n{FINAL}```",
        f"```python\n{FINAL}```\n<think>\n```python\nx = 1\n```\n</think>",
        f"\ufeff{FINAL}",
        f"\n\n{FINAL}\n\n",
        f"{FINAL}<|im_end|>\n",
        f"{FINAL}</s></s> \n<|endoftext|>",
    ],
)
def test_the_final_program_is_found(response: str) -> None:
    assert of(response).strip("\n") == FINAL.strip("\n")


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_line_ends_of_any_kind_are_one_kind(line_end: str) -> None:
    assert of(f"Hi\n```python\n{FINAL}```\n".replace("\n", line_end)) == FINAL


def test_fences_inside_of_text_do_not_end_a_block() -> None:
    inside = 'def f():\n    """Usage:\n\n    ```\n    f()\n    ```\n    """\n'
    assert of(f"```python\n{inside}```\n") == inside
    assert of(f"```python\n{inside}") == inside
    assert of(f"````python\n{FINAL}```\n````\n") == f"{FINAL}```\n"


def test_a_fence_of_a_docstring_is_none_of_the_response() -> None:
    source = 'def f():\n    """Usage:\n\n    ```python\n    f()\n    ```\n    """\n    return 1\n'
    assert of(source) == source
    assert of(f"```python\n{source}```") == source
    deep = FINAL.replace("\n", "\n      ").rstrip()
    assert of(f"1. Outer\n   - Inner\n\n      ```python\n      {deep}\n      ```\n") == FINAL


def test_tildes_do_not_close_backticks() -> None:
    assert of("```python\nx = 1\n~~~\ny = 2\n```\n") == "x = 1\n~~~\ny = 2\n"


def test_a_tag_in_a_text_of_the_program_is_no_thinking() -> None:
    source = 'def f(s):\n    return s.split("</think>")[1] + "<think>"\n'
    for response in (source, f"```python\n{source}```", f"Well:\n```python\n{source}```\n"):
        assert of(response).strip() == source.strip()


def test_thinking_that_never_ends_holds_no_program() -> None:
    assert of(f"<think>\n```python\n{FINAL}```\n") == ""


@pytest.mark.parametrize(
    "response", ["", " \n\t\n", "<think></think>", "```python\n\n```\n```python\n"]
)
def test_where_there_is_none_it_is_empty(response: str) -> None:
    assert not of(response).replace("```python", "").replace("```", "").strip()


def test_other_languages_have_their_own_labels() -> None:
    response = "```c++\nint a;\n```\n```c\nint b;\n```\n```js\nlet c\n```\n```bash\nd\n```\n"
    assert [of(response, name).strip() for name in ("cpp", "c", "javascript", "shell")] == [
        "int a;",
        "int b;",
        "let c",
        "d",
    ]


def test_the_line_where_it_begins_is_known() -> None:
    assert line(f"a\nb\n```python\n{FINAL}```") == 4
    assert line(f"\n\n{FINAL}") == 3
    assert line(f"<think>\n\n</think>\n{FINAL}") == 4
    assert line(f"a\r\nb\r```python\r\n{FINAL}```") == 4


def test_an_unknown_language_is_the_callers_mistake() -> None:
    with pytest.raises(ConfigError, match='did you mean "python"'):
        of("x", "pyhton")


WORDS = st.lists(
    st.sampled_from(
        [
            "So",
            "\n",
            " ",
            "`f(x)`",
            "def g(): pass\n",
            "<b>",
            "1. ",
            "\t",
            "'''",
            "| a |\n",
            "> q\n",
        ]
    ),
    max_size=8,
).map("".join)


@settings(max_examples=150, deadline=None)
@given(WORDS, WORDS)
def test_what_stands_around_the_last_block_changes_nothing(before: str, after: str) -> None:
    bare = f"```python\n{FINAL}```\n"
    assert of(f"{before}\n{bare}{after}") == of(bare) == FINAL


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("`~ \n\tpython<think>/|x\r\ud800")))
def test_every_response_has_a_program_or_none(response: str) -> None:
    assert isinstance(of(response), str)
    program_of(
        response, "python", prefix="prompt", prompt="def f():\n    '''x'''\n", entry_point="f"
    )


BIG = {  # what is repeated, between what comes before and after as many characters
    "one run of backticks": ("`", "{}"),
    "empty fences": ("```\n", "{}"),
    "labeled fences": ("```python\n", "{}"),
    "thinking in one line": ("<think></think>", "{}"),
    "thinking never closed": ("<think>\n", "{}"),
    "a fence far to the right": ("```\n", "{blanks}```\n{}"),
    "marks of an end": ("</s>\n", "{}"),
    "tildes, then backticks": ("```\n", "{tildes}\n{}"),
    "decorators": ("@\n", "{}def f"),
    "futures": ("from __future__ import (\n", "{}"),
    "blanks": ("\t", "{}"),
}


@pytest.mark.parametrize("name", BIG)
def test_work_grows_with_the_response_and_no_faster(name: str) -> None:
    unit, around = BIG[name]

    def work(text: str) -> Any:
        whole = around.format(text, blanks=" " * len(text), tildes="~" * len(text))
        prompt = "def f(x):\n    '''It adds.'''\n"
        return program_of(whole, "python", prefix="prompt", prompt=prompt, entry_point="f")

    assert work(unit * 5000).language == "python"
    assert_linear(work, unit)


# -- completions ---------------------------------------------------------------------------------

PROMPT = (
    "from typing import List\n\ndef helper(x):\n    return x\n\ndef f(xs: List[int]) -> int:\n   "
    ' """ Add.\n    >>> f([1])\n    1\n    """\n'
)
BODY = "    total = 0\n    for x in xs:\n        total += x\n    return total\n"
STRIPPED = BODY.strip()
DEDENTED = "\n".join(line[4:] for line in BODY.split("\n"))
WHOLE = "def f(xs):\n" + BODY


@pytest.mark.parametrize(
    "response",
    [
        BODY,
        "\n" + BODY,
        STRIPPED,
        DEDENTED,
        DEDENTED.strip(),
        " " + STRIPPED,
        "\n".join("    " + line for line in BODY.split("\n")),
        f"```python\n{BODY}```",
        f"```python\n{DEDENTED}```",
        f"```python\n{STRIPPED}\n```",
        WHOLE,
        PROMPT + BODY,
        f"Sure!\n```python\n{WHOLE}```\n",
        f"```python\n{PROMPT}{BODY}```",
        "from __future__ import annotations\nimport math\n\n" + WHOLE,
        "import functools\n\n@functools.wraps(helper)\n" + WHOLE,
        "f = lambda xs: sum(xs)\n",
        "for_now = 0\n    for x in xs:\n        for_now += x\n    return for_now",
        "for x in [0]:\n        pass\n    return sum(xs)",
        "if xs:\n    return sum(xs)\nreturn 0",
        "return (\n    sum(xs)\n)",
        "# a comment\n    return sum(xs)",
        BODY + "\n\ndef other():\n    pass\n",
        STRIPPED + "\n\n\nif __name__ == '__main__':\n    pass\n",
        "    return sum(helper(x) for x in xs)\n",
        "\treturn sum(xs)\n",
    ],
)
def test_a_completion_becomes_a_whole_program(response: str) -> None:
    made = program_of(response, "python", prefix="prompt", prompt=PROMPT, entry_point="f")
    names: dict[str, object] = {}
    exec(compile(ast.parse(made.source), "made", "exec"), names)
    f = names["f"]
    assert callable(f)
    assert f([1, 2]) == 3


def test_lines_of_a_completion_count_from_the_response() -> None:
    made = program_of(BODY, "python", prefix="prompt", prompt=PROMPT, entry_point="f")
    line = made.source.split("\n").index("    return total") + made.first_line
    assert BODY.split("\n")[line - 1] == "    return total"


def test_without_a_prefix_the_prompt_has_no_part_in_it() -> None:
    assert (
        program_of(WHOLE, "python", prompt=PROMPT, entry_point="f").source.strip() == WHOLE.strip()
    )


def test_an_empty_completion_is_no_program_and_the_prompt_alone_is_none_either() -> None:
    made = program_of("", "python", prefix="prompt", prompt=PROMPT, entry_point="f")
    assert not made.source.strip()


def test_the_prompt_said_again_does_not_solve_it() -> None:
    made = program_of(PROMPT, "python", prefix="prompt", prompt=PROMPT, entry_point="f")
    names: dict[str, object] = {}
    exec(made.source, names)
    f = names["f"]
    assert callable(f)
    assert f([1, 2]) is None


def test_other_languages_are_joined_as_they_stand() -> None:
    made = program_of("  return 1; }", "c", prefix="prompt", prompt="int f() {", entry_point="f")
    assert made.source == "int f() {\n  return 1; }\n"
    assert made.first_line == 0
