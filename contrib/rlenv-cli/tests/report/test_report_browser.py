"""The report in a real browser: opened from a file, clicked, typed at, printed, attacked."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from rlenv_cli.report import gather, write

NASTY = "</script><script>window.hit=1</script><img src=x onerror='window.hit=1'><b>bold</b>"


@pytest.fixture
def opened(chromium, scores, tmp_path):
    """Make a report of rows (and of a second run) and open it; every complaint of the page fails
    the test.
    """

    def open_(rows, other=None, fragment="", *, public=False):
        runs = [gather(scores(rows, "a.jsonl"))]
        if other is not None:
            runs.append(gather(scores(other, "b.jsonl")))
        out = tmp_path / "report.html"
        write(out, runs, public=public)
        chromium.open(out, fragment)
        return chromium

    yield open_
    assert chromium.complaints() == ([], [])


def visible_rows(page):
    return [text.replace("\n", " | ") for text in page.texts(".row")]


def status(page, wanted):
    page.until(f"document.querySelector('.status').textContent === {json.dumps(wanted)}")


def test_a_click_opens_the_stages_and_the_arithmetic_of_a_row(opened, make):
    row, stage = make
    box = stage("box", 0.0, weight=0.0, penalty=0.25, detail="there is no box", data={"boxes": 0})
    tone = stage("tone", 0.5, weight=0.0, bonus=0.1)
    equal = stage("equal", 1.0, weight=2.0, private={"gold": "42"})
    other = stage("style", 0.5, weight=2.0)
    page = opened([row(0.0), row(0.75 + 0.05 - 0.25, stages=[box, tone, equal, other])])
    page.click('.row[data-row="2"]')
    page.until("document.querySelectorAll('.sums tr').length === 3")
    text = page.text(".detail")
    assert "there is no box" in text
    assert "operator only" in text
    assert "(2 × 1 (equal) + 2 × 0.5 (style)) / 4" in text
    assert "1 × 0.75 + 0.1 × 0.5 (tone) − 0.25 × (1 − 0) (box)" in text
    assert page.texts(".sums tr:last-child td") == ["reward", "clamped to [0, 1]", "= 0.55"]
    assert page.eval("document.querySelector('.row[data-row=\"2\"]').ariaExpanded") == "true"
    page.click('.row[data-row="2"]')
    assert page.text(".detail") is None


def test_gates_faults_and_composites_say_what_happened(opened, make):
    row, stage = make
    gate = stage("compile", 0.0, weight=0.0, gate=1.0)
    fault = {"kind": "timeout", "message": "took too long", "transient": True}
    best = stage("best", 1.0, use="core/any", children=[stage("best/x", 0.0), stage("best/y", 1.0)])
    rows = [
        row(0.0, stages=[gate], stopped_at="compile"),
        row(None, stages=[stage(score=None, fault=fault)], fault=fault),
        row(stages=[best]),
        row(0.25, stages=[stage("q", 0.5), stage("r", 0.5)]),
    ]
    page = opened([*rows, row(0.4, stages=[stage("q", 1.0)])])
    wanted = {
        1: "the gate of compile failed: 0 < 1; nothing after it ran",
        2: "a 0 would be a false negative",
        3: "the best of x 0, y 1: 1",
        4: "not the sum of a pipeline that this file describes",
    }
    for number, words in wanted.items():
        page.click(f'.row[data-row="{number}"]')
        page.until("document.querySelector('.sums') ? 1 : 0")
        assert words in page.text(".detail"), page.text(".detail")
    assert "stopped at compile" in visible_rows(page)[0]
    assert "unscored: timeout" in visible_rows(page)[1]


def test_search_sort_and_filters_find_rows(opened, make):
    row, _ = make
    rows = [row(i / 40, f"task-{i % 7}", f"the response {i}") for i in range(41)]
    page = opened([*rows, row(None, "odd", "x" * 300 + " needle " + "y" * 300)])
    status(page, "42 rows")
    page.click(".sort")
    page.click(".sort")
    assert visible_rows(page)[0].startswith("42 |")
    page.eval("document.querySelectorAll('.sort')[2].click()")
    assert [line.split(" | ")[2] for line in visible_rows(page)[:3]] == ["0", "0.025", "0.05"]
    page.click(".tools input[type=search]")
    page.type("task-3")
    status(page, "6 of 42 rows")
    page.eval("document.querySelector('input[type=search]').select()")
    page.type("needle")
    status(page, "No row matches.")
    page.click(".tools input[type=checkbox]")
    status(page, "1 of 42 rows")
    page.eval("document.querySelector('input[type=search]').value = ''")
    page.eval("document.querySelector('input[type=search]').dispatchEvent(new Event('input'))")
    status(page, "42 rows")
    page.click(".chip:nth-child(3)")
    status(page, "40 of 42 rows")
    page.click(".chip:nth-child(4)")
    status(page, "1 of 42 rows")


def test_the_keyboard_reaches_everything(opened, make):
    row, _ = make
    page = opened([row(response=f"answer {i}") for i in range(300)])
    page.press("/", "Slash", "/")
    assert page.eval("document.activeElement.type") == "search"
    page.press("ArrowDown")
    assert page.eval("document.activeElement.dataset.row") == "1"
    page.press("ArrowDown")
    page.press("Enter")
    page.until("document.querySelector('.sums') ? 1 : 0")
    assert "answer 1" in page.text(".detail")
    page.press("End")
    assert page.eval("document.activeElement.dataset.row") == "300"
    page.press("ArrowUp")
    assert page.eval("document.activeElement.dataset.row") == "299"
    page.press("Home")
    page.press("Escape")
    assert page.text(".detail") is None
    assert page.eval("document.activeElement.dataset.row") == "1"
    assert page.eval("document.querySelectorAll('.row[tabindex=\"0\"]').length") == 1


def test_only_rows_in_sight_exist(opened, make):
    row, _ = make
    page = opened([row(response=f"answer {i}") for i in range(3000)])
    assert page.eval("document.querySelectorAll('.row').length") < 100
    page.eval("scrollTo(0, document.body.scrollHeight)")
    page.until("document.querySelector('.row[data-row=\"3000\"]') ? 1 : 0")
    assert page.eval("document.querySelectorAll('.row').length") < 100
    page.click('.row[data-row="2990"]')
    page.until("document.querySelector('.sums') ? 1 : 0")
    assert "answer 2989" in page.text(".detail")
    tops = page.eval(
        "[...document.querySelectorAll('.row')].map((e) => e.getBoundingClientRect().top).sort((a,"
        " b) => a - b)"
    )
    assert all(b - a >= 36 for a, b in pairwise(tops))


def test_a_link_opens_its_row(opened, make):
    row, _ = make
    page = opened([row(response=f"answer {i}") for i in range(900)], fragment="#row-700")
    page.until("document.querySelector('.sums') ? 1 : 0")
    assert "answer 699" in page.text(".detail")
    box = page.eval(
        "(() => { const r ="
        " document.querySelector('.row[data-row=\"700\"]').getBoundingClientRect(); return [r.top,"
        " r.bottom, innerHeight]; })()"
    )
    assert 0 <= box[0] < box[1] <= box[2]


def test_nothing_from_data_is_run_or_drawn_as_markup(opened, make):
    row, stage = make
    fault = {"kind": NASTY, "message": NASTY, "transient": False}
    bad = stage(
        NASTY,
        None,
        use=NASTY,
        phase=NASTY,
        detail=NASTY,
        data={NASTY: [NASTY]},
        private={NASTY: NASTY},
        fault=fault,
    )
    rows = [row(None, NASTY, NASTY, stages=[bad], fault=fault, stopped_at=NASTY)]
    rows += [row(0.5, NASTY, [{"role": NASTY, "content": NASTY}])]
    for other in (None, rows):
        page = opened(rows, other)
        for number in (1, 2):
            page.click(f'.row[data-row="{number}"]')
            page.until("document.querySelector('.sums') ? 1 : 0")
            assert NASTY in page.text(".detail")
        assert page.eval("window.hit ?? null") is None
        assert page.eval("document.querySelectorAll('img, main script, .grid b b').length") == 0


def test_controls_marks_and_broken_characters_are_seen(opened, make):
    row, _ = make
    page = opened(
        [
            row(
                task="a\u202eb",
                response=(
                    "left\u202eright\u2066\ud800 \x1b[31m \x00 \U0001f600 \u05e9\u05dc\r\nnext"
                ),
            )
        ]
    )
    page.click(".row")
    page.until("document.querySelector('.sums') ? 1 : 0")
    text = page.text(".text")
    assert "left\\u202eright\\u2066\\ud800 \\x1b[31m \\x00 \U0001f600 \u05e9\u05dc\nnext" in text
    assert page.eval("document.querySelectorAll('.text .ctl').length") == 5
    assert "a\\u202eb" in visible_rows(page)[0]


def test_a_cut_says_where_it_is(opened, make):
    row, _ = make
    page = opened([row(response="begin" + "x" * 30_000 + "end")])
    page.click(".row")
    page.until("document.querySelector('.gap') ? 1 : 0")
    assert page.text(".gap").startswith("cut here: 10,008 characters left out")
    text = page.text(".text")
    assert text.startswith("begin")
    assert text.endswith("end")


def test_two_runs_open_side_by_side(opened, make):
    row, _ = make
    first = [row(0.0, "x", "same text"), row(1.0, "y", "old text"), row(1.0, "only a")]
    second = [row(1.0, "x", "same text"), row(None, "y", "new text"), row(1.0, "only b")]
    page = opened(first, second)
    changes = [line.split(" | ")[1] for line in visible_rows(page)]
    assert changes == ["gained", "newly unscored", "only in A", "only in B"]
    page.click('.row[data-row="1"]')
    page.until("document.querySelectorAll('.sums').length === 2")
    assert page.text(".detail").count("same text") == 1
    page.click('.row[data-row="2"]')
    page.until("/old text/.test(document.querySelector('.detail').innerText)")
    assert "new text" in page.text(".detail")
    page.click('.row[data-row="4"]')
    page.until("/no such row/.test(document.querySelector('.detail').innerText)")
    page.click(".chip:nth-child(2)")
    status(page, "1 of 4 rows")


def test_dark_and_light_differ_and_both_can_be_read(opened, make):
    row, _ = make
    page = opened([row()])
    found = []
    for scheme in ("light", "dark"):
        page.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        found.append(
            page.eval(
                "[getComputedStyle(document.body).backgroundColor,"
                " getComputedStyle(document.body).color]"
            )
        )
    page.call("Emulation.setEmulatedMedia", features=[])
    assert found[0] != found[1]
    assert all(back != ink for back, ink in found)


def test_print_shows_the_first_rows_as_plain_lines(opened, make):
    row, _ = make
    page = opened([row(response=f"answer {i}") for i in range(1000)])
    page.call("Emulation.setEmulatedMedia", media="print")
    page.eval("dispatchEvent(new Event('beforeprint'))")
    assert page.eval("document.querySelectorAll('.row').length") == 200
    assert page.eval("getComputedStyle(document.querySelector('.row')).position") == "static"
    assert "The first 200 of 1,000 rows are printed" in page.text(".printed")
    page.eval("dispatchEvent(new Event('afterprint'))")
    page.call("Emulation.setEmulatedMedia", media="")
    assert page.eval("document.querySelectorAll('.row').length") < 100


def test_a_narrow_screen_needs_no_sideways_scrolling(opened, make):
    row, _ = make
    opened([row()]).call(
        "Emulation.setDeviceMetricsOverride",
        width=400,
        height=900,
        deviceScaleFactor=1,
        mobile=True,
    )
    page = opened([row(task="long-" * 30, response="word " * 300)])
    page.click(".row")
    page.until("document.querySelector('.sums') ? 1 : 0")
    width = page.eval("document.documentElement.scrollWidth")
    page.call("Emulation.clearDeviceMetricsOverride")
    assert width == 400


def test_arithmetic_in_the_page_agrees_with_the_engine(opened, make):
    """Every reward that the engine made is reached again from the scores that are in the row."""
    from rlenv import Pipeline, Slot
    from rlenv.model.values import Outcome, StageResult

    row, stage = make
    kinds = [
        ("a", 2.0, 0.0, 0.0), ("b", 1.0, 0.0, 0.0), ("c", 0.0, 0.3, 0.0), ("d", 0.0, 0.0, 0.4),
    ]  # fmt: skip
    slots = [Slot(n, object(), weight=w, bonus=b, penalty=p) for n, w, b, p in kinds]
    rows = []
    for i in range(81):
        given = [(i // 3**k % 3) / 2 for k in range(4)]
        fold = Pipeline(slots, base=0.9).fold()
        next(fold)
        combined = None
        try:
            for slot, score in zip(slots, given, strict=True):
                fold.send(StageResult(slot.name, Outcome(score)))
        except StopIteration as end:
            combined = end.value
        assert combined is not None
        stages = [
            stage(n, s, weight=w, bonus=b, penalty=p)
            for (n, w, b, p), s in zip(kinds, given, strict=True)
        ]
        rows.append(row(combined.value, stages=stages))
    page = opened(rows)
    for number in range(1, 82, 4):
        page.eval(f"location.hash = '#row-{number}'")
        page.until(
            f"document.querySelector('.row[data-row=\"{number}\"][aria-expanded=true]') &&"
            " document.querySelector('.sums') ? 1 : 0"
        )
        shown = page.texts(".sums tr:last-child td")
        assert shown[1] == "clamped to [0, 1]"
        assert float(shown[2].removeprefix("= ")) == pytest.approx(rows[number - 1]["reward"])
        page.eval("location.hash = ''")


def test_an_old_browser_is_told_what_it_lacks(chromium, scores, make, tmp_path):
    row, _ = make
    write(tmp_path / "r.html", [gather(scores([row()]))])
    script = chromium.call(
        "Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream"
    )
    chromium.open(tmp_path / "r.html")
    chromium.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
    assert "lacks DecompressionStream" in chromium.text("[role=alert]")
    assert "Pass rate" in chromium.text()


def test_a_damaged_file_says_so(chromium, scores, make, tmp_path):
    row, _ = make
    out = tmp_path / "r.html"
    write(out, [gather(scores([row()]))])
    text = out.read_text("ascii")
    place = text.index('rlenv-index">') + 30
    out.write_text(text[:place] + "AAAA" + text[place + 4 :], "ascii")
    chromium.open(out)
    assert "the file is damaged or incomplete" in chromium.text("[role=alert]")


def test_what_decided_a_stage_is_marked_in_the_response(opened, make):
    row, stage = make
    text = "\U0001d7ce one two\r\nthree " + "x" * 30_000 + " end"
    found = [
        {"kind": "keyword", "satisfied": True, "spans": [[2, 5], [6, 9]]},
        {"kind": "no_digits", "satisfied": False, "spans": [[0, 1], [4, 7]]},
        {"kind": "last_word", "satisfied": True, "spans": [[len(text) - 3, len(text)]]},
        {"kind": "odd", "spans": [[9, 3], ["a", {}], 7, [10**9, 10**9 + 1], [-5, 2]]},
    ]
    messages = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "one"}]
    listed = stage(data={"constraints": [{"kind": "keyword", "spans": [[0, 3]]}]})
    page = opened(
        [
            row(response=text, stages=[stage(data={"constraints": found})]),
            row(response=messages, stages=[listed]),
        ]
    )
    page.click('.row[data-row="1"]')
    page.until("document.querySelectorAll('mark').length")
    assert page.eval(
        "[...document.querySelectorAll('mark')].map((e) => [e.textContent, e.className])"
    ) == [
        ["\U0001d7ce", "bad"],
        ["on", ""],
        ["e", "bad"],
        [" ", "bad"],
        ["t", "bad"],
        ["wo", ""],
        ["end", ""],
    ]
    titles = page.eval("[...document.querySelectorAll('mark')].map((e) => e.title)")
    assert titles[2] == "keyword; no_digits, not satisfied"
    page.click('.row[data-row="2"]')
    page.until("document.querySelectorAll('mark').length === 1")
    assert (
        page.eval("document.querySelector('mark').closest('pre').previousSibling.innerText")
        == "assistant"
    )


def test_a_run_that_only_judges_decided_says_so(opened, make):
    row, stage = make
    alone = opened([row(stages=[stage("taste", 0.5, phase="judge")])])
    assert "Only judges decide here" in alone.text()
    helped = opened([row(stages=[stage("taste", 0.5, phase="judge"), stage("equal", 1.0)])])
    assert "Only judges decide here" not in helped.text()
