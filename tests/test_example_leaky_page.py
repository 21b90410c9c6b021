"""The page of examples/leaky_verifier in a real browser: opened from a file, its slider moved by
key and by click.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, started

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "leaky_verifier"
PAGE = EXAMPLE / "results" / "leak.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    made = started(tmp_path_factory.mktemp("chromium"))
    yield made
    made.close()


@pytest.fixture
def shown(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """The page, alone in a folder; every complaint and every request of it fails the test."""
    alone = tmp_path / "leak.html"
    shutil.copy(PAGE, alone)
    browser.open(alone)
    yield browser
    assert browser.complaints() == ([], [])


DRAWN = (
    "Object.fromEntries([...document.querySelectorAll('#weights [data-weight]')].map((e) =>"
    " [e.dataset.weight,"
    " Number(e.getAttribute('width'))]).concat([...document.querySelectorAll('#steps"
    " [data-curve]')].map((e) => [e.dataset.curve, e.getAttribute('d')])))"
)
MARK = "document.querySelector('#strengths .here').getAttribute('d')"


def test_the_slider_moves_weights_and_both_curves_and_the_fix_stays(shown):
    assert shown.text("#value") == "0.50"
    before = shown.eval(DRAWN)
    mark = shown.eval(MARK)
    shown.eval("document.getElementById('strength').focus()")
    shown.press("Home")
    shown.until("document.getElementById('value').textContent === '0.00'")
    after = shown.eval(DRAWN)

    assert set(before) == {
        "real", "leak", "real after", "leak after", "train", "heldout", "train after",
        "heldout after",
    }  # fmt: skip
    assert before["leak"] > before["real"]
    assert after["real"] > after["leak"]
    assert {name for name in before if before[name] != after[name]} == {
        "real", "leak", "train", "heldout"
    }  # fmt: skip
    assert [after[name] for name in ("real", "leak", "train", "heldout")] == [
        before[f"{name} after"] for name in ("real", "leak", "train", "heldout")
    ]
    assert shown.eval(MARK) != mark
    shown.press("End")
    shown.until("document.getElementById('value').textContent === '1.00'")
    kept = json.loads((PAGE.parent / "curves.json").read_text())
    assert f"Training shows {kept['before'][-1]['train']['mean'][-1]:.2f}" in shown.text("#said")
    assert "no better than choosing blindly" in shown.text("#said")


def test_the_slider_can_be_clicked_and_says_what_it_stands_at(shown):
    shown.click("#strength")
    shown.press("ArrowUp")
    shown.until("document.getElementById('value').textContent === '0.55'")
    assert shown.eval("document.getElementById('strength').ariaValueText") == "0.55"
    assert shown.eval("document.querySelector('label').control.id") == "strength"
    assert shown.eval("document.querySelector('#steps').getAttribute('aria-label')").startswith(
        "Reward over 200 steps"
    )


def test_curves_are_told_apart_without_color_and_named_where_they_end(shown):
    kinds = shown.eval(
        "['train', 'heldout', 'train after', 'heldout after'].map((name) => { const e ="
        " document.querySelector(`#steps [data-curve='${name}']`); return"
        " getComputedStyle(e).strokeDasharray; })"
    )
    assert kinds[0] == kinds[1] == "none"
    assert "none" not in kinds[2:]
    assert shown.eval("document.querySelectorAll('#steps circle').length") == 10
    assert shown.eval("document.querySelectorAll('#steps rect').length") == 10
    named = shown.eval(
        "[...document.querySelectorAll('#steps text.t, #steps text.h')].map((e) => e.textContent)"
    )
    assert sorted(named) == ["held out", "held out, fixed", "train", "train, fixed"]
    cut = shown.eval(
        "[...document.querySelectorAll('figure svg')].some((svg) =>"
        " [...svg.querySelectorAll('text')].some((e) => e.getBoundingClientRect().right >"
        " svg.getBoundingClientRect().right + 1))"
    )
    assert not cut


def test_the_page_follows_a_dark_screen(shown):
    back = "getComputedStyle(document.body).backgroundColor"
    light = shown.eval(back)
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    shown.call("Emulation.setEmulatedMedia", features=features)
    try:
        assert shown.eval(back) != light
    finally:
        shown.call("Emulation.setEmulatedMedia", features=[])


def luminance(color: str) -> float:
    """Relative luminance of ``#rrggbb``, as in WCAG 2.2."""
    color = color if len(color) == 7 else "#" + "".join(2 * c for c in color[1:])
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_is_readable_on_light_and_on_dark():
    style = (EXAMPLE / "page" / "page.css").read_text()
    schemes = [dict(re.findall(r"--(\w+):(#\w+)", line)) for line in style.splitlines()[:2]]
    assert len(schemes) == 2
    for scheme in schemes:
        for text in ("ink", "soft", "t", "h"):
            for back in ("back", "card"):
                one, two = sorted(luminance(scheme[name]) for name in (text, back))
                assert (two + 0.05) / (one + 0.05) >= 4.5, (text, back)
