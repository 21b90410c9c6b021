"""Statements are cut at once where they are simple, and token by token where not: the same tokens
come out.
"""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv_plugin_constraints import sql_lexer
from rlenv_plugin_constraints.sql_lexer import DIALECTS, Lexed, Unreadable, lexed

PIECES = [
    "select", "a", "t1.id", "1", "2.5", ".5", "1e+5", "12ab.c", "'it''s'", "(", ")", ",", ";",
    "=", "<", ">", "-", "+", "*", ".", "e'x'", "N'q'", '"n"', "[c]", "`b`", "--", "#", "$$", "$1",
    "/*", "*/", ":=", "||", "\\", "{", "’", "é",
]  # fmt: skip


def told(read: Lexed) -> list[tuple[str, str, int]]:
    return [(text, read.line[at], read.start(at)) for at, text in enumerate(read.texts)]


@given(
    st.lists(st.sampled_from([*PIECES, " ", " ", "\n"]), max_size=12),
    st.sampled_from(sorted(DIALECTS)),
)
def test_all_ways_to_cut_a_statement_agree(pieces: list[str], dialect: str) -> None:
    text = "".join(pieces)
    try:
        slow = told(sql_lexer._stepwise(text, DIALECTS[dialect]))
    except Unreadable as err:
        with pytest.raises(Unreadable, match=str(err)):
            lexed(text, DIALECTS[dialect])
    else:
        assert told(lexed(text, DIALECTS[dialect])) == slow


def test_a_simple_statement_is_cut_at_its_signs() -> None:
    read = lexed("SELECT a, 'x y' FROM t1 WHERE t1.n = (2);", DIALECTS["mysql"])

    assert list(read.texts) == [
        "SELECT",
        "A",
        ",",
        "'x y'",
        "FROM",
        "T1",
        "WHERE",
        "T1",
        ".",
        "N",
        "=",
        "(",
        "2",
        ")",
        ";",
    ]
    assert read.line == "kbpskbkbpbp(d);"
    assert read.start(3) == 10


@pytest.mark.parametrize("piece", ["[", "'\\\\", '"'])
def test_what_is_never_closed_is_looked_through_once(piece: str) -> None:
    for dialect in DIALECTS.values():
        with contextlib.suppress(Unreadable):
            lexed(f"SELECT {piece * 30_001}", dialect)  # quadratic, this takes seconds
