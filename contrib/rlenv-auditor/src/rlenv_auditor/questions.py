"""The five questions that everyone should ask of a verifier, and its place on the map of tightness
against cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .model import Result, Scorecard
from .probes.cost import bound

__all__ = ["ARCHETYPES", "answered", "asides"]

UNMEASURED = "not measured"
# Seconds of one verification, from the quick to the slow ones of each kind.
ARCHETYPES: Mapping[str, tuple[float, float]] = {
    "math": (0.001, 0.01),
    "judge": (0.05, 0.2),
    "code": (0.1, 5.0),
    "tool use": (0.5, 10.0),
    "web": (5.0, 60.0),
}


def answered(
    card: Scorecard, step: tuple[int, float]
) -> tuple[tuple[tuple[str, str], ...], dict[str, Any]]:
    """((question, answer) pairs, figures for the map)."""
    results = {result.probe: result for result in card.results}
    loose = _worst(card, "exploit")
    refused = _worst(card, "fn")
    free = _figures(results, "baselines.constant")
    cost, nothing = (_figures(results, name) for name in ("cost.latency", "baselines.free"))
    figures: dict[str, Any] = {
        "false positives": loose.rate.share if loose and loose.rate else None,
        "false negatives": refused.rate.share if refused and refused.rate else None,
        "p50": cost.get("p50"),
        "expected free reward": free.get("expected free reward"),
        "free reward": nothing.get("free reward"),
        "best for nothing": nothing.get("best for nothing"),
    }
    if loose and loose.rate and refused and refused.rate:
        wrong = figures["free reward"] or 0.0
        lost = refused.rate
        figures["tightness"] = max(
            0.0, 1 - max(wrong, loose.rate.share or 0.0) - (lost.share or 0.0)
        )
        figures["tightness at least"] = max(0.0, 1 - max(wrong, loose.rate.high) - lost.high)
    random = results.get("baselines.random")
    questions = (
        ("What is the trivial exploit?", _exploit(loose, free, random)),
        ("How brittle is the format?", _brittle(results)),
        ("What is the throughput?", _throughput(cost, step)),
        (
            "What is the false-negative rate?",
            f"{refused.rate} ({refused.probe})" if refused else UNMEASURED,
        ),
        (
            "What is the held-out delta?",
            f"{UNMEASURED}: rlenv audit delta --train A.jsonl --heldout B.jsonl",
        ),
    )
    return questions, figures


def asides(card: Scorecard) -> tuple[tuple[str, str], ...]:
    """Further (question, answer) pairs."""
    results = {result.probe: result for result in card.results}
    idle = _figures(results, "policies.nothing")
    paid = ", ".join(f"{name} {mean:g}" for name, mean in idle.items())
    return (
        *[("What do policies earn that solve nothing?", paid)] * bool(paid),
        ("Which responses can force a fault?", _unscored(results.get("opinion.unscored"))),
        ("What does style add to a wrong answer?", _style(_figures(results, "opinion.style"))),
        ("What does another verifier say?", _second(results.get("opinion.second"))),
    )


def _unscored(found: Result | None) -> str:
    if found is None or found.rate is None:
        return UNMEASURED
    said = f"{found.rate.of('tasks')}, in {found.figures['of responses']} responses"
    if found.figures["worst"] is None:
        return said
    kinds = ", ".join(f"{count} {kind}" for kind, count in found.figures["kinds"].items())
    return f"{said} ({kinds}); worst: {found.figures['worst']!r:.40}"


def _style(figures: Mapping[str, Any]) -> str:
    styles = figures.get("styles")
    if not styles:
        return UNMEASURED
    most = max(styles, key=lambda name: styles[name]["delta"])
    rise = figures["length slope"]
    return (
        f"{styles[most]['delta']:+.3f} at most ({most}); {rise['per 1,000 characters']:+.4f} for"
        f" 1,000 characters ({rise['low']:+.4f} to {rise['high']:+.4f})"
    )


def _second(found: Result | None) -> str:
    if found is None or found.rate is None:
        reason = found.reason if found is not None else ""
        return f"{UNMEASURED}: {reason}" if reason else UNMEASURED
    figures = found.figures
    agreement = "" if figures["kappa"] is None else f"; kappa {figures['kappa']:.2f}"
    counts = f"{figures['disagreements']} of {figures['responses']} responses{agreement}"
    return f"it disagrees on {found.rate.of('tasks')} ({counts})"


def _worst(card: Scorecard, measure: str) -> Result | None:
    tried = (r for r in card.results if r.measure == measure and r.rate and r.rate.trials)
    return max(tried, key=_badness, default=None)


def _badness(one: Result) -> tuple[float, bool, int]:
    """The larger share; of equal ones, what needs to know nothing of the answer."""
    share = one.rate.share or 0.0 if one.rate else 0.0
    return share, one.family == "baselines", one.rate.trials if one.rate else 0


def _figures(results: Mapping[str, Result], probe: str) -> Mapping[str, Any]:
    found = results.get(probe)
    return found.figures if found is not None else {}


def _exploit(loose: Result | None, free: Mapping[str, Any], random: Result | None) -> str:
    if loose is None or loose.rate is None:
        return UNMEASURED
    parts = [f"none found ({loose.rate})"]
    if loose.findings:
        parts = [f"{loose.findings[0].title} ({loose.probe}: {loose.rate})"]
    if "expected free reward" in free:
        parts.append(
            f"the best constant, {free['best constant']!r:.40}, earns"
            f" {free['expected free reward']:.3f} on average"
        )
    if random is not None and random.rate is not None:
        parts.append(f"random text is paid on {random.rate}")
    return "; ".join(parts)


def _brittle(results: Mapping[str, Result]) -> str:
    kept = results.get("meaning.kept")
    if kept is None or kept.rate is None:
        return UNMEASURED
    said = f"{kept.rate} of right answers lose their reward by a rewrite that keeps their meaning"
    return f"{said}; first: {kept.findings[0].title}" if kept.findings else said


def _throughput(cost: Mapping[str, Any], step: tuple[int, float]) -> str:
    if "p50" not in cost:
        return UNMEASURED
    shown = ", ".join(f"{name} {_seconds(cost[name])}" for name in ("p50", "p95", "p99"))
    return f"{cost['together a second']:.0f} a second ({shown}); {bound(dict(cost), *step)}"


def _seconds(value: float) -> str:
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"
