"""One HTML file: the summary as it stands, the rows packed, the page's own style and script."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from rlenv.model.errors import InputError

from rlenv_cli.console import reason, visible

from . import changes, compare, summary
from .columns import interned, short
from .gather import Gathered
from .markup import esc
from .pack import BUDGET, fitting, packed

MARK = "<!doctype html>\n<!-- a report of rlenv -->\n"
SCRIPTS = ("unpack.js", "show.js", "marks.js", "arithmetic.js", "detail.js", "table.js", "main.js")
PAGE_BYTES = 200_000


def check_free(out: Path, inputs: Sequence[Path] = ()) -> None:
    """Fail before the work when ``out`` cannot be written, or holds anything but a report.

    Raises:
        InputError: with what is in the way.
    """
    shown = visible(str(out))
    if out.is_dir():
        raise InputError(f"{shown}: this is a folder; give the report the name of a file in it")
    if not out.parent.is_dir():
        raise InputError(f"{shown}: the folder {visible(str(out.parent))} does not exist; make it")
    if not os.access(out.parent, os.W_OK):
        raise InputError(f"{shown}: the folder may not be written; give the report another place")
    used = any(os.path.realpath(path) == os.path.realpath(out) for path in inputs)
    if used or (out.exists() and not _is_report(out)):
        why = "is another file of this run" if used else "exists and is no report of rlenv"
        raise InputError(f"{shown}: {why}; give the report another name")


def _is_report(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        begun = file.read(len(MARK))
    return begun == MARK.encode("ascii") or not begun


def write(out: Path, runs: Sequence[Gathered], *, public: bool = False) -> int:
    """Make the report of one run, or of two side by side; returns its size in bytes.

    The file appears whole or not at all.

    Raises:
        InputError: when the runs cannot be compared, or the file cannot be written.
    """
    pieces = _pieces(runs, public=public)
    try:
        return _put(out, pieces)
    except OSError as error:
        raise InputError(f"{visible(str(out))}: cannot be written: {reason(error)}") from error


def _put(out: Path, pieces: Iterator[str]) -> int:
    fd, name = tempfile.mkstemp(prefix=".rlenv-report-", dir=out.parent)
    try:
        with os.fdopen(fd, "w", encoding="ascii", newline="\n") as file:
            file.writelines(pieces)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        size = os.stat(name).st_size
        os.replace(name, out)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    return size


def _pieces(runs: Sequence[Gathered], *, public: bool) -> Iterator[str]:
    found = compare.compare(*runs) if len(runs) == 2 else None
    top, middle, said = _upper(runs[0], found, public=public)
    added = "" if runs[0].known is None else runs[0].known.sections
    template = _asset("template.html").replace("<!doctype html>\n", MARK, 1)
    notes = "".join(f'<p class="notice">{esc(text)}</p>' for text in said)
    names = " and ".join(run.shown for run in runs)
    values = {
        "title": f"{esc(runs[0].header.env, 100)}: {esc(names, 200)}",
        "header": top,
        "notes": notes,
        "summary": middle + added,
        "about": summary.about(dict(zip("AB" if found else ("",), runs, strict=True))),
        **_own(),
    }
    before, after = template.split("{{data}}")
    index = packed(_index(runs, found))
    limits, rows = _rows(runs, BUDGET - PAGE_BYTES - len(index) - len(added), public=public)
    facts = packed(_facts(runs, limits, public=public))
    values["index"] = _block("index", index) + _block("facts", facts)
    yield _filled(before, values)
    yield from rows  # last, so that the page is shown before a browser has read them all
    yield after


def _rows(runs: Sequence[Gathered], budget: float, *, public: bool) -> tuple[list[int], list[str]]:
    """The limits at which responses were cut, and the packed rows of all runs."""
    limits: list[int] = []
    blocks: list[str] = []
    for k, run in enumerate(runs):
        limit, texts = fitting(run, budget / (len(runs) - k), public=public)
        budget -= sum(map(len, texts))
        limits.append(limit)
        blocks += (_block(f"rows{k}", text) for text in texts)
    return limits, blocks


def _upper(
    run: Gathered, found: compare.Comparison | None, *, public: bool
) -> tuple[str, str, list[str]]:
    if found is None:
        body = summary.body(run, public=public)
        return summary.header(run, public=public), body, summary.notes(run)
    said = [*compare.notes(found), *summary.notes(found.a), *summary.notes(found.b)]
    return changes.header(found, public=public), changes.body(found), said


def _own() -> dict[str, str]:
    style = _asset("report.css")
    script = _script()
    return {
        "style": style,
        "script": script,
        "style-hash": _sha256(style),
        "script-hash": _sha256(script),
    }


def _filled(template: str, values: dict[str, str]) -> str:
    """Fill every ``{{name}}`` in one pass, so that no value is read as a template."""
    return re.sub(r"\{\{([a-z-]+)\}\}", lambda found: values[found[1]], template)


def _index(runs: Sequence[Gathered], found: compare.Comparison | None) -> dict[str, Any]:
    if found is not None:
        tasks, which = interned([pair.task for pair in found.pairs])
        return {"tasks": [short(t) for t in tasks], "task": which, **compare.table(found)}
    columns = runs[0].columns
    index: dict[str, Any] = {"reward": columns.reward, "passed": columns.passed}
    index |= {"seconds": columns.seconds, "preview": columns.preview}
    for name in ("task", "split", "stop", "fault"):
        values, which = interned(getattr(columns, name))
        index |= {name + "s": [short(value) for value in values], name: which}
    return index


def _facts(runs: Sequence[Gathered], limits: list[int], *, public: bool) -> dict[str, Any]:
    return {
        "bases": [run.base for run in runs],
        "limits": limits,
        "rows": [len(run.columns) for run in runs],
        "public": public,
        "tasksKnown": runs[0].known is not None,
    }


def _block(kind: str, text: str) -> str:
    return f'<script type="text/rlenv-{kind}">{text}</script>\n'


def _asset(name: str) -> str:
    return (files("rlenv_cli.report") / "assets" / name).read_text("ascii")


def _script() -> str:
    return "(function () {\n'use strict';\n" + "".join(map(_asset, SCRIPTS)) + "})();\n"


def _sha256(text: str) -> str:
    digest = hashlib.sha256(text.encode("ascii")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
