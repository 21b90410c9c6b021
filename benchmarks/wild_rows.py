"""From a scorecard and its replays to a row of the league, and from rows to the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rlenv_auditor import Finding, Result, Scorecard

from benchmarks.wild_targets import Wild

__all__ = ["confirmed", "markdown", "row", "unmeasured"]

Row = dict[str, Any]
# What these pay holds the right answer, or nearly: no reward for nothing.
HEDGES = ("meaning.changed", "baselines.options", "gold.near")
# Read by hand, and no holes: what is paid there solves the task, or lies within what the package
# promises.
READ = {
    ("reasoning-gym: jugs", "gold.swap"): "other tasks' pourings may solve this one too",
    ("reasoning-gym: sokoban", "gold.swap"): "another task's path may solve this one too",
    ("reasoning-gym: decimal_arithmetic", "gold.near"): "a tolerance of its own",
    ("reasoning-gym: power_function", "gold.near"): "three significant figures, as asked",
    ("reasoning-gym: manipulate_matrix", "secrecy.prompt"): "some answers are their inputs",
    ("reasoning-gym: pool_matrix", "secrecy.prompt"): "some answers are their inputs",
    ("reasoning-gym: rearc", "secrecy.prompt"): "some answers are their inputs",
    ("reasoning-gym: rotate_matrix", "secrecy.prompt"): "some answers are their inputs",
}
HEAD = (
    "verifier",
    "tasks",
    "worst exploit",
    "free reward",
    "false negatives",
    "differs",
    "crashes, hangs",
    "p50",
    "findings (confirmed)",
    "verdict",
)


def unmeasured(wild: Wild, version: str, reason: str) -> Row:
    """A row that says why there is nothing else."""
    return {
        "name": wild.name,
        "package": wild.package,
        "version": version,
        "reason": reason,
        "note": wild.note,
    }


def confirmed(finding: Finding, measure: str, told: Sequence[str]) -> bool:
    """Whether the verifier itself, without the audit around it, did what a finding says."""
    numbers = [_number(one) for one in told]
    if measure == "nondet":
        return len(set(told)) > 1
    if finding.probe.startswith("secrecy."):
        return False  # what is in a prompt or next to a reward is for a person to read: see READ
    if finding.probe == "exploits.executed":
        return "the response was run" in told
    if finding.reward is None:
        return any(number is None for number in numbers)
    return all(
        number is not None and (number == finding.reward or number != number) for number in numbers
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def row(wild: Wild, version: str, card: Scorecard, replays: Mapping[str, bool]) -> Row:
    """All that the table shows of one audit."""
    read = [
        words for (name, probe), words in READ.items() if name == wild.name and _hit(card, probe)
    ]
    results = [
        one
        for one in card.results
        if one.rate is not None and one.rate.trials and (wild.name, one.probe) not in READ
    ]
    worst = _worst(
        [one for one in results if one.measure == "exploit" and not one.probe.startswith("range.")]
    )
    refused = _worst([one for one in results if one.measure == "fn"])
    differs = _worst([one for one in results if one.measure == "nondet"])
    faults = Counter(
        f.title.partition(": ")[2].partition(":")[0]
        for r in results
        if r.measure == "fault"
        for f in r.findings
    )
    serious = [
        f
        for f in card.findings
        if f.severity in ("critical", "high") and (wild.name, f.probe) not in READ
    ]
    return {
        "name": wild.name,
        "package": wild.package,
        "version": version,
        "note": wild.note or "; ".join(read),
        "tasks": card.tasks,
        "worst": _told(worst),
        "free": card.figures.get("expected free reward"),
        "constant": next(
            (
                r.figures.get("best constant")
                for r in card.results
                if r.probe == "baselines.constant"
            ),
            None,
        ),
        "refused": _told(refused),
        "differs": _told(differs),
        "faults": dict(faults),
        "p50": card.figures.get("p50"),
        "findings": dict(Counter(f.severity for f in card.findings)),
        "serious": len(serious),
        "confirmed": sum(replays.get(f.id, False) for f in serious),
        "open": sorted(f.id for f in serious if not replays.get(f.id, False)),
        "incomplete": [r.probe for r in card.results if r.status == "incomplete"],
        "seconds": round(card.seconds, 1),
    }


def _hit(card: Scorecard, probe: str) -> bool:
    return any(one.probe == probe and one.findings for one in card.results)


def _worst(results: Sequence[Result]) -> Result | None:
    return max(results, key=_order, default=None)


def _order(one: Result) -> tuple[bool, float, int]:
    """What pays for nothing before what pays a hedge, however often."""
    assert one.rate is not None
    return (bool(one.rate.hits) and one.probe not in HEDGES, one.rate.share or 0.0, one.rate.trials)


def _told(one: Result | None) -> Row | None:
    if one is None or one.rate is None:
        return None
    first = one.findings[0] if one.findings else None
    return {
        "probe": one.probe,
        "hits": one.rate.hits,
        "trials": one.rate.trials,
        "low": one.rate.low,
        "high": one.rate.high,
        "share": one.rate.share,
        "shown": str(one.rate),
        "title": first.title if first else "",
        "response": first.response[:400] if first else "",
    }


def _verdict(one: Row) -> str:
    """In two or three words, by what was measured."""
    worst = one["worst"]
    if worst and worst["hits"]:
        if worst["probe"] == "exploits.executed":
            return "runs the response"
        if worst["probe"] in HEDGES:
            return "pays hedged answers"
        return "pays for nothing" if worst["share"] > 0.2 else "has holes"
    if one["refused"] and one["refused"]["share"] > 0.05:
        return "refuses right answers"
    if one["differs"] and one["differs"]["hits"]:
        return "not the same twice"
    if one["faults"]:
        return "raises on some texts"
    if (one["free"] or 0.0) > 0.3:
        return "few answers: guessed"
    return "nothing found"


def _share(said: Row | None) -> str:
    if said is None:
        return "not measured"
    return str(said["shown"]) + (f" ({said['probe']})" if said["hits"] else "")


def _cells(one: Row) -> list[str]:
    if "reason" in one:
        return [one["name"], "", f"not audited: {one['reason']}"[:200], *[""] * (len(HEAD) - 3)]
    p50 = "not measured" if one["p50"] is None else f"{1000 * one['p50']:.3g} ms"
    free = (
        "not measured"
        if one["free"] is None
        else f"{one['free']:.3f} ({str(one['constant'])[:20]!r})"
    )
    found = ", ".join(f"{count} {name}" for name, count in one["findings"].items()) or "none"
    counted = f"{found} ({one['confirmed']} of {one['serious']})" if one["serious"] else found
    faults = ", ".join(f"{count} × {name}" for name, count in one["faults"].items()) or "none"
    name = f"{one['name']} ({one['note']})" if one["note"] else one["name"]
    return [
        name,
        str(one["tasks"]),
        _share(one["worst"]),
        free,
        _share(one["refused"]),
        _share(one["differs"]),
        faults,
        p50,
        counted,
        _verdict(one),
    ]


def ranked(rows: Sequence[Row]) -> list[Row]:
    """The worst first; what could not be audited last."""

    def order(one: Row) -> tuple[bool, float, float, str]:
        worst = one["worst"]["share"] if one.get("worst") else 0.0
        return ("reason" in one, -worst, -(one.get("free") or 0.0), one["name"])

    return sorted(rows, key=order)


def markdown(rows: Sequence[Row], date: str) -> str:
    """The league as a page."""
    versions = ", ".join(
        sorted({f"{one['package'].replace('_', '-')} {one['version']}" for one in rows})
    )
    serious, held = (sum(one.get(key, 0) for one in rows) for key in ("serious", "confirmed"))
    lines = [
        "# Audits in the wild",
        (
            f"{len(rows)} verifiers of {versions}; {date}. {serious} findings are critical or high,"
            f" and {held} of them were shown again by the verifier itself, without the audit."
        ),
        "",
        f"| {' | '.join(HEAD)} |",
        "|" + "---|" * len(HEAD),
    ]
    lines += [
        "| "
        + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in _cells(one))
        + " |"
        for one in ranked(rows)
    ]
    return "\n".join(lines) + "\n"
