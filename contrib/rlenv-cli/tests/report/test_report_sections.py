"""Sections of plugins in a report: shown where they are harmless, and never able to act, hide or
break out.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rlenv.hooks import hookimpl
from rlenv.plugins.registry import registry
from rlenv_cli.app import cli
from rlenv_cli.report.sections import ATTRIBUTES, TAGS, harmless

PIECES = st.lists(
    st.sampled_from(
        [
            "<",
            ">",
            "/",
            "p",
            "svg",
            "script",
            " ",
            '"',
            "'",
            "=",
            "onclick",
            "x",
            "<p>",
            "</p>",
            "</section>",
            "<script>",
            "</script>",
            "<!--",
            "-->",
            "<![CDATA[",
            "]]>",
            "&lt;",
            "&#60;",
            "<svg/onload=x>",
            "{{script}}",
        ]
    ),
    max_size=30,
).map("".join)


class Seen(HTMLParser):
    """Tags that are open, all names that were used, and whether every end had its beginning."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.names = set()
        self.fits = True

    def handle_starttag(self, tag, attrs):
        self.names |= {tag, *(f"@{name}" for name, _ in attrs)}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        self.fits = self.fits and bool(self.open) and self.open.pop() == tag

    def handle_decl(self, decl):
        self.names.add("!")

    handle_comment = handle_pi = unknown_decl = handle_decl


@given(PIECES | st.text(max_size=40))
def test_whatever_comes_in_comes_out_closed_and_with_allowed_names_alone(text):
    kept = harmless(text)
    seen = Seen()
    seen.feed(kept)
    seen.close()
    assert kept.isascii()
    assert seen.fits
    assert seen.open == []
    assert seen.names <= TAGS | {f"@{name}" for name in ATTRIBUTES}
    assert harmless(kept) == kept


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ('<p onclick="x()">a<script>b</script>', "<p>a</p>"),
        ("<script>a", ""),
        ("<script/>a", "a"),
        ("<style>p{}</style><p style='x'>a", "<p>a</p>"),
        ("</section></main><p>a", "<p>a</p>"),
        ('<a href="javascript:x">a</a><img src=x>', "a"),
        ('<p id="rows" class="skip note">a</p>', '<p class="note">a</p>'),
        (
            '<svg viewBox="0 0 1 1"><circle r="1"/></svg>',
            '<svg viewBox="0 0 1 1"><circle r="1"></circle></svg>',
        ),
        ('<rect fill="var(--ink)"/>', '<rect fill="var(--ink)"></rect>'),
        ('<rect fill="URL(#x)" stroke="u\\72l(x)"/>', "<rect></rect>"),
        ("<svg><use href='#rows'/><foreignObject>a</foreignObject></svg>", "<svg>a</svg>"),
        ("<!-- a --><?php b ?><!doctype html>c", "c"),
        ("1 < 2 &amp; 3 é\u202e", "1 &lt; 2 &amp; 3 &#233;\\u202e"),
        ("<p>" * 100, "<p>" * 50 + "</p>" * 50),
    ],
)
def test_markup_is_taken_apart(html, kept):
    assert harmless(html) == kept


class Plugin:
    RLENV_API = 1

    def __init__(self, answer):
        self._answer = answer

    @hookimpl
    def rlenv_report_sections(self, env, public):
        return self._answer(env, public)


@pytest.fixture
def report(tmp_path, monkeypatch):
    """The page of a run whose plugin answers so."""
    monkeypatch.chdir(tmp_path)
    Path("env.toml").write_text(
        'name = "demo"\n[[stage]]\nuse = "core/equal"\n[[task]]\nid = "t"\nprompt = "?"\nanswer ='
        ' "a"\n',
        "utf-8",
    )
    Path("r.jsonl").write_text('{"task": "t", "response": "a"}\n', "utf-8")

    def make(answer, *words):
        registry().register(Plugin(answer), "sections-test")
        try:
            first = CliRunner().invoke(
                cli, ["score", "env.toml", "r.jsonl", "-o", "s.jsonl", "--overwrite"]
            )
            made = CliRunner().invoke(cli, ["report", "s.jsonl", *words])
        finally:
            registry().unregister("sections-test")
        assert (first.exit_code, made.exit_code) == (0, 0), first.output + made.output
        return Path("report.html").read_text("ascii")

    return make


def test_a_plugin_adds_a_section_with_its_environment(report):
    page = report(lambda env, _: [("Of <it>", f"<p>{env.name}</p>")], "--tasks", "env.toml")
    assert '<section class="plugin"><h2>Of &lt;it&gt;</h2><p>demo</p></section>' in page


def test_without_the_environment_there_is_no_section(report):
    assert "Mine" not in report(lambda *_: [("Mine", "<p>x</p>")])


def test_a_public_report_says_so_to_the_plugin(report):
    page = report(
        lambda _, public: [("Mine", f"<p>{public}</p>")], "--tasks", "env.toml", "--public"
    )
    assert "<p>True</p>" in page


def test_a_section_is_no_template(report):
    page = report(lambda *_: [("Mine", "<p>{{script}}{{data}}</p>")], "--tasks", "env.toml")
    assert "<p>{{script}}{{data}}</p>" in page
    assert len(re.findall("<main>", page)) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda *_: 1 / 0, "ZeroDivisionError"),
        (lambda *_: 7, "TypeError"),
        (lambda *_: [("a", "b", "c")], "ValueError"),
        (lambda *_: [("a", "x" * 200_001)], "more than 200000 characters"),
    ],
)
def test_a_plugin_that_fails_loses_its_section_and_not_the_report(report, answer, said):
    page = report(answer, "--tasks", "env.toml")
    assert "Plugin sections-test" in page
    assert said in page


def test_a_plugin_with_nothing_to_say_adds_nothing(report):
    for nothing in ([], None, [("Title", "")]):
        assert 'class="plugin"' not in report(lambda *_, n=nothing: n, "--tasks", "env.toml")
