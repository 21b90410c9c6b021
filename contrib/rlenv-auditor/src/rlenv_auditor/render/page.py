"""The scorecard as one page that needs no network: what is broken, its smallest reproducer, and how
to see it again.
"""

from __future__ import annotations

import base64
import hashlib
import math
import shlex
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from rlenv_cli.console import visible

from rlenv_auditor.conclusion import USES, conclusion, omitted
from rlenv_auditor.model import Finding, Result, Scorecard
from rlenv_auditor.questions import ARCHETYPES

__all__ = ["page"]

SHOWN = 4000  # characters of a response
WIDTH = 640
HEIGHT = 280
TOP = 66
TICKS = ("10 µs", "0.1 ms", "1 ms", "10 ms", "0.1 s", "1 s", "10 s", "100 s")
# seconds, the ends of the map
FASTEST = 1e-5
SLOWEST = 100.0


def page(
    card: Scorecard, signature: str = "", tasks_from: str = "", python: str = "", kept: str = ""
) -> str:
    """The whole text of the file; ``kept`` is where the scorecard lies, for the commands that
    replay a finding.
    """
    here = files("rlenv_auditor.render")
    style, script = (here.joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'"
    call = (
        f"{_call(card, signature, tasks_from, python)} --json {shlex.quote(kept or 'audit.json')}"
    )
    body = "\n".join(_body(card, call))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Audit of'
        f" {_text(card.target)}</title>"
        f"<style>{style}</style></head><body>\n{body}\n<script>{script}</script></body></html>\n"
    )


def _text(value: object) -> str:
    """Escaped, with what cannot be seen made visible."""
    return escape(visible(str(value)))


def _call(card: Scorecard, signature: str, tasks_from: str, python: str) -> str:
    words = ["rlenv", "audit", card.target]
    words += ["--as", signature] if signature else []
    words += ["--tasks-from", tasks_from] if tasks_from else []
    words += ["--python", python] if python else []
    return " ".join(shlex.quote(word) for word in [*words, "--seed", str(card.seed)])


def _body(card: Scorecard, call: str) -> Iterator[str]:
    said = conclusion(card)
    color = {"found": "bad", "clean": "good"}.get(said.status, "warn")
    yield f'<h1 class="{color}">{_text(f"{card.target}: {said.headline}")}</h1>'
    kinds = ", ".join(card.archetypes) or "a function"
    yield (
        f'<p class="meta">{_text(kinds)} · {card.tasks} of {card.tasks_in_all} tasks · pass mark'
        f" {card.pass_mark:g} · seed {card.seed} · {_text(card.profile)} · {card.seconds:.1f} s ·"
        f" rlenv-auditor {_text(card.version)}</p>"
    )
    yield f"<p>{_text(said.advice)}</p>"
    yield from _glance(card)
    yield f"<h2>{len(card.findings) or 'No'} finding{'' if len(card.findings) == 1 else 's'}</h2>"
    for place, finding in enumerate(card.findings):
        yield from _finding(finding, place, call)
    yield from _answers("Five questions", card.questions)
    yield from _answers("Other questions", card.asides)
    yield f'<p class="meta">{_text(omitted(card))}</p>'
    yield from _map(card)
    yield from _probes(card)
    if card.crossed:
        lines = "".join(f"<li>{_text(line)}" for line in card.crossed)
        yield f"<h2>Thresholds exceeded</h2><ul>{lines}</ul>"


def _probes(card: Scorecard) -> Iterator[str]:
    yield (
        "<h2>Probes</h2><table><thead><tr><th>probe<th>a sound verifier<th>result<th>rate or"
        " reason</tr></thead><tbody>"
    )
    yield from (_row(result) for result in card.results)
    yield "</tbody></table>"


def _glance(card: Scorecard) -> Iterator[str]:
    """One box a family: what is broken in it, at a glance."""
    yield '<div class="glance">'
    for family in dict.fromkeys(result.family for result in card.results):
        results = [result for result in card.results if result.family == family]
        found = [result for result in results if result.status == "found"]
        clean = sum(result.status == "clean" for result in results)
        missed = len(results) - len(found) - clean
        color = "good" if clean and not missed else "meta"
        if found:
            color = "bad"
        counts = ((len(found), "broken"), (clean, "clean"), (missed, "not measured"))
        count = ", ".join(f"{number} {said}" for number, said in counts if number)
        names = ", ".join(result.probe.partition(".")[2] for result in found)
        yield (
            f'<div class="{color}"><b>{_text(family)}</b>'
            f" <br>{count}<br><small>{_text(names)}</small></div>"
        )
    yield "</div>"


def _answers(title: str, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield f"<h2>{title}</h2><dl>"
    yield from (f"<dt>{_text(question)}</dt><dd>{_text(answer)}</dd>" for question, answer in pairs)
    yield "</dl>"


def _finding(finding: Finding, place: int, call: str) -> Iterator[str]:
    color = {"critical": "bad", "high": "bad", "medium": "warn"}.get(finding.severity, "meta")
    reward = "no reward" if finding.reward is None else f"reward {finding.reward:g}"
    shown = finding.response[:SHOWN] + ("…" if len(finding.response) > SHOWN else "")
    yield f'<section class="finding {finding.severity}"><h3>{_text(finding.title)}</h3>'
    yield (
        f'<div class="meta"><span class="tag {color}">{finding.severity}</span> {_text(finding.id)}'
        f" · task {_text(finding.task)} · {reward}, expected {_text(finding.expected)}</div>"
    )
    yield f"<pre>{_text(shown) or '(nothing)'}</pre>"
    yield f'<p class="hint">{_text(finding.hint)}</p>'
    command = f"{call} --replay {shlex.quote(finding.id)}"
    yield (
        f'<div class="command"><pre id="c{place}">{_text(command)}</pre>'
        f'<button data-copies="c{place}">copy</button></div></section>'
    )


def _row(result: Result) -> str:
    color = {"found": "bad", "clean": "good", "incomplete": "warn"}.get(result.status, "meta")
    said = result.reason or (str(result.rate) if result.rate is not None else "")
    return (
        f"<tr><td>{_text(result.probe)}<td>{_text(result.hypothesis)}"
        f'<td class="{color}">{result.status}<td>{_text(said)}</tr>'
    )


def _map(card: Scorecard) -> Iterator[str]:
    """Tightness (1 - false positives - false negatives) against seconds of one reward, with the
    usual kinds for scale.
    """
    tight = card.figures.get("tightness")
    seconds = card.figures.get("p50")
    yield "<h2>Tightness against cost</h2>"
    if not isinstance(tight, (int, float)) or not isinstance(seconds, (int, float)):
        yield (
            '<p class="meta">not measured: it needs probes of false positives, of false negatives'
            " and of cost</p>"
        )
        return
    yield (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" aria-label="tightness'
        f' {tight:.2f} at {seconds:.2g} seconds">'
    )
    yield from _axes()
    yield from _uses()
    yield from _bands()
    yield from _titles()
    yield _point(_x(seconds), _y(tight))


def _point(x: float, y: float) -> str:
    return (
        f'<circle class="here" cx="{x:.0f}" cy="{y:.0f}" r="6"/>'
        f'<text class="name" x="{x + 10:.0f}" y="{y + 4:.0f}">this one</text></svg>'
    )


def _axes() -> Iterator[str]:
    base = HEIGHT - 44
    yield (
        f'<line class="axis" x1="40" x2="{WIDTH - 10}" y1="{base}" y2="{base}"/>'
        f'<line class="axis" x1="40" x2="40" y1="{TOP}" y2="{base}"/>'
    )
    for exponent in range(-5, 3):
        name = TICKS[exponent + 5]
        yield (
            f'<text x="{_x(10.0**exponent):.0f}" y="{base + 16}" text-anchor="middle">{name}</text>'
        )
    for value in (0.0, 0.5, 1.0):
        yield f'<text x="34" y="{_y(value) + 4:.0f}" text-anchor="end">{value:g}</text>'


def _uses() -> Iterator[str]:
    """A line for the least tightness of each use."""
    for use in USES:
        yield (
            f'<line class="axis" stroke-dasharray="2 4" x1="40" x2="{WIDTH - 10}"'
            f' y1="{_y(use.least):.0f}" y2="{_y(use.least):.0f}"/>'
        )
        yield (
            f'<text x="{WIDTH - 12}" y="{_y(use.least) - 3:.0f}" text-anchor="end">'
            f"{use.name}<title>{use.least:g} or more: {use.told}</title></text>"
        )


def _bands() -> Iterator[str]:
    """A band for what a reward of each usual kind costs."""
    for row, (name, (quick, slow)) in enumerate(ARCHETYPES.items()):
        left = _x(quick)
        right = _x(slow)
        top = 12 + 14 * (row % 3)
        yield (
            f'<rect class="band" x="{left:.0f}" y="{top}" width="{right - left:.0f}" height="12">'
            f"<title>{name}: {quick:g} to {slow:g} s</title></rect>"
        )
        yield (
            f'<text x="{(left + right) / 2:.0f}" y="{top + 10}" text-anchor="middle">{name}</text>'
        )


def _titles() -> Iterator[str]:
    base = HEIGHT - 44
    yield (
        f'<text x="{(40 + WIDTH) / 2:.0f}" y="{base + 34}" text-anchor="middle">seconds for one'
        " reward (p50), and what the five kinds usually take</text>"
    )
    yield (
        f'<text x="12" y="{(base + TOP) / 2:.0f}" text-anchor="middle" transform="rotate(-90 12'
        f' {(base + TOP) / 2:.0f})">tightness: 1 − FP − FN</text>'
    )


def _x(seconds: float) -> float:
    share = math.log(max(seconds, FASTEST) / FASTEST) / math.log(SLOWEST / FASTEST)
    return 40 + min(1.0, share) * (WIDTH - 60)


def _y(tight: float) -> float:
    return TOP + (1 - tight) * (HEIGHT - 44 - TOP)
