"""The table of ``rlenv check`` can be read at 80 columns for any number of stages."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rlenv_testing.check import _table

LAWS = ("range", "total", "no_hedging")


def printed(results: dict[str, tuple[str, ...]]) -> str:
    rows = [
        {"law": law, "stage": stage, "result": result}
        for stage, found in results.items()
        for law, result in zip(LAWS, found, strict=True)
    ]
    out = Console(file=StringIO(), width=80)
    out.print(_table(rows, [*results]))
    text = out.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines())


def test_each_of_many_stages_has_a_line_that_names_the_laws_it_breaks() -> None:
    stages = {f"plugin/a_stage_with_a_long_name_{n}": ("passed",) * 3 for n in range(12)}
    text = printed({**stages, "plugin/bad": ("failed", "skipped", "failed")})

    assert "…" not in text
    assert all(stage in text for stage in stages)
    (line,) = [line for line in text.splitlines() if "plugin/bad" in line]
    assert line.split() == ["plugin/bad", "0", "1", "range,", "no_hedging"]


def test_a_law_that_could_not_be_checked_is_named() -> None:
    text = printed({"a/b": ("passed", "unchecked", "passed"), "a/c": ("passed",) * 3})

    assert "not checked: total" in text


def test_a_single_stage_has_a_line_for_each_law() -> None:
    text = printed({"a/b": ("passed", "skipped", "failed")})

    assert [
        line.split()[0]
        for line in text.splitlines()
        if line.split()[:1] and line.split()[0] in LAWS
    ] == [*LAWS]
