"""What a model wrote cannot steer the terminal nor crash the writing."""

import io
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv_cli.console import amount, block, duration, forgiving, one_line, visible


def test_escape_sequences_are_shown_not_obeyed():
    assert visible("\x1b[31mred\x07\x9b") == "\\x1b[31mred\\x07\\x9b"


def test_direction_marks_and_lone_surrogates_are_shown():
    assert visible("a\u202eb\ud800c\u2066") == "a\\u202eb\\ud800c\\u2066"


def test_line_breaks_and_ordinary_text_stay():
    assert visible("naïve\n\tπ ≥ 3") == "naïve\n\tπ ≥ 3"


def test_a_carriage_return_cannot_overwrite_a_line():
    assert "\r" not in visible("score 0\rscore 1")


@given(st.text(alphabet=st.characters(), max_size=200))
@settings(max_examples=100)
def test_whatever_is_shown_can_be_written_and_steers_nothing(text):
    for shown in (visible(text), one_line(text), block(text, 3)):
        shown.encode("utf-8")
        assert not any(ord(c) < 32 and c not in "\n\t" for c in shown)


@given(st.text(max_size=300), st.integers(10, 60))
@settings(max_examples=100)
def test_one_line_is_one_line_of_bounded_width(text, width):
    shown = one_line(text, width)
    assert "\n" not in shown
    assert len(shown) <= width


def test_a_long_text_is_cut_and_says_so():
    shown = block("\n".join(str(i) for i in range(100)), lines=3)
    assert shown.splitlines()[:3] == ["0", "1", "2"]
    assert "more characters" in shown


def test_a_short_text_is_shown_whole():
    assert block("one\ntwo\n") == "one\ntwo"
    assert block("one\ntwo") == "one\ntwo"


def test_a_terminal_without_unicode_gets_escapes():
    raw = io.BytesIO()
    stream = forgiving(io.TextIOWrapper(raw, "ascii"))
    stream.write("π\ud800")
    stream.flush()
    assert raw.getvalue() == b"\\u03c0\\ud800"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (3e-6, "3 us"),
        (0.0004, "0.4 ms"),
        (0.31, "310 ms"),
        (0.9999, "1.0 s"),
        (2.44, "2.4 s"),
        (59.99, "1 min 00 s"),
        (185, "3 min 05 s"),
        (7620, "2 h 07 min"),
    ],
)
def test_durations_read_like_durations(seconds, shown):
    assert duration(seconds) == shown


def test_amounts_agree_in_number():
    assert (amount(0, "row"), amount(1, "row"), amount(1204, "row")) == (
        "0 rows",
        "1 row",
        "1,204 rows",
    )


def test_the_version_imports_no_more_of_rlenv_than_import_rlenv_does():
    code = (
        "import sys, rlenv; before = set(sys.modules); from rlenv_cli.app import cli;"
        " cli(['--version'], standalone_mode=False); print([m for m in sorted(set(sys.modules) -"
        " before) if m.split('.')[0] in ('rich', 'cattrs', 'pluggy', 'asyncio') or"
        " m.startswith('rlenv.') and not m.startswith(('rlenv.plugins', 'rlenv.model.messages'))"
        "])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines()[-1] == "[]"
    assert out.stdout.startswith("rlenv ")


@pytest.mark.parametrize("columns", ["1", "0", "-3", "x"])
def test_a_table_is_readable_on_the_narrowest_screen(columns, monkeypatch):
    from rlenv_cli import console as text

    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(text, "is_terminal", lambda _: True)
    assert text.console().width >= text.NARROWEST
