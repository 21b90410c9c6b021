r"""Every kind of constraint: microseconds for a response of 2,000 characters that it sees for the
first time.

The yardstick is ``re.findall(r"\w+", text)`` on the same text, in the same process.  Kinds that
read programs, SQL, YAML, patches or schemas get such a document of that length, and are compared
with the bare parser where they use one: ``ast.parse``, PyYAML's events in C, ``jsonschema``.  What
is known of single words (syllables) is warm.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # so that `benchmarks` is a package

import argparse
import ast
import json
import re
import statistics
import time
from collections.abc import Callable
from typing import Any

from attrs import NOTHING
from rich.console import Console
from rich.table import Table
from rlenv.compose.stages import Attempt
from rlenv.model.values import Task

SENTENCE = (
    "The north wind, which we had *feared* all week, came at last; it was not as cold as [name] had"
    " said. "
)
LIMIT = {"language": 2000.0}  # microseconds; every other kind has 200
# What reads a whole language to its end costs what its reader does; it is shown, and held to no
# figure.
READERS = (
    "yaml",
    "python",
    "python_calls",
    "python_imports",
    "python_signature",
    "python_complexity",
    "python_docstrings",
    "sql_read_only",
)
TYPOGRAPHIC = str.maketrans({'"': "“", "'": "’", ";": " —", "*": "…"})
PROGRAM = (
    "def area(w: float, h: float) -> float:\n    if w < 0 or h < 0:\n        raise ValueError\n   "
    " return w * h\n\n\n"
)
PATCH = "--- a/src/x.py\n+++ b/src/x.py\n@@ -1,12 +1,12 @@\n-a = 1\n+b = 2\n" + " c = 3\n" * 11


def prose(size: int) -> str:
    """Paragraphs of English with some marks, bullets and a heading, of about this many
    characters.
    """
    block = f'<<A Title>>\n\nSection 1\n{SENTENCE * 4}\n\n* one\n* two\n\n"{SENTENCE}"\n\n'
    return (block * (size // len(block) + 1))[:size]


def tables() -> dict[str, tuple[dict[str, Any], Callable[[int], str]]]:
    """Of each kind: its parameters, and a text of a given size that it must read to the end."""
    rows = json.dumps([{"name": "x", "n": 1}])[1:-1]

    def listed(size: int) -> str:
        return f"[{', '.join([rows] * (size // len(rows)))}]"

    def csv(size: int) -> str:
        return "name,n\n" + "x,1\n" * (size // 4)

    def xml(size: int) -> str:
        return f"<a>{'x ' * (size // 2)}</a>"

    def sql(size: int) -> str:
        return "SELECT a FROM t WHERE " + " AND ".join(["a = 1"] * (size // 10))

    def code(size: int) -> str:
        return PROGRAM * (size // len(PROGRAM) + 1)

    def patch(size: int) -> str:
        return PATCH * (size // len(PATCH) + 1)

    plain: dict[str, dict[str, Any]] = {
        "words": {"min": 1},
        "max_words": {"n": 400},
        "min_words": {"n": 10},
        "sentences": {"min": 1},
        "paragraphs": {"min": 1},
        "lines": {"min": 1},
        "characters": {"min": 1},
        "tokens": {"n": 400},
        "readability": {"min": 0},
        "contains": {"words": ["zebra", "north wind"]},
        "forbids": {"words": ["zebra", "cat"]},
        "keyword": {"word": "wind", "n": 3},
        "letter": {"letter": "e", "n": 3},
        "starts_with": {"text": "The"},
        "ends_with": {"text": "said."},
        "quoted": {},
        "postscript": {},
        "first_word": {"word": "the"},
        "repeats_prompt": {"prompt": SENTENCE},
        "uppercase": {},
        "lowercase": {},
        "capital_words": {"min": 1},
        "no_comma": {},
        "no_characters": {"characters": "?!"},
        "title": {},
        "bullets": {"min": 1},
        "highlights": {"min": 1},
        "sections": {"min": 1},
        "placeholders": {"min": 1},
        "choice": {"options": ["yes", "no"]},
        "responses": {},
        "section_order": {"headings": ["Section 1"]},
        "regex": {"pattern": r"wind.{0,40}cold"},
        "no_urls": {},
        "no_pii": {},
        "language": {"language": "en"},
        "all": {"constraints": [{"kind": "no_comma"}]},
        "any": {"constraints": [{"kind": "no_comma"}]},
        "option": {"options": "yes/no"},
        "csv_table": {"columns": ["a", "b"], "rows": 2},
        "number_in_range": {"min": 1},
        "markdown_table": {},
        "iso_dates": {},
        "sorted_lines": {},
        "number_list": {"numbers": [1, 2]},
        "multiple_choice": {"questions": 2, "options": 4},
        "not": {"constraint": {"kind": "no_comma"}},
        "at_least": {"n": 1, "constraints": [{"kind": "no_comma"}]},
    }
    found: dict[str, tuple[dict[str, Any], Callable[[int], str]]]
    found = {kind: (parameters, prose) for kind, parameters in plain.items()}
    found["json"] = {}, listed
    found["json_schema"] = {"schema": {"type": "array", "items": {"type": "object"}}}, listed
    found["csv"] = {}, csv
    found["yaml"] = {}, listed
    found["xml_tags"] = {"tags": ["a"]}, xml
    found["sql_read_only"] = {}, sql
    found["citations"] = (
        {"sources": ["a", "b"]},
        lambda size: (SENTENCE.strip()[:-1] + " [1]. ") * (size // 105),
    )
    found["verbatim_quotes"] = {"sources": [SENTENCE * 20]}, prose
    found["python"] = {"forbid_nodes": ["While"]}, code
    found["python_calls"] = {"forbid": ["eval"]}, code
    found["python_imports"] = {"allow": ["math"]}, code
    found["python_signature"] = {"signature": "def area(w: float, h: float) -> float"}, code
    found["python_complexity"] = {"max": 10}, code
    found["python_docstrings"] = {}, code
    found["patch_paths"] = {"allow": ["src/**"]}, patch
    return found


def fastest(work: Callable[[], object], repeats: int) -> float:
    """Least microseconds of CPU of several runs."""
    costs = []
    for _ in range(repeats):
        start = time.process_time_ns()
        for _ in range(5):
            work()
        costs.append((time.process_time_ns() - start) / 5000)
    return min(costs)


USUAL: dict[str, Any] = {
    "n": 3,
    "min": 1,
    "max": 3,
    "max_percent": 20,
    "depth": 2,
    "percent": 50,
    "numbers": 3,
    "questions": 2,
    "sentence": 1,
    "place": 1,
    "letters": 3,
    "rows": 2,
    "columns": 2,
    "options": ["yes", "no"],
    "labels": ["One:", "Two:"],
    "first": "2024-01-01",
    "last": "2024-01-09",
}


def usual_parameters(kind: str) -> dict[str, Any]:
    """Something for each parameter that a kind cannot do without; text for those that are none of
    the above.
    """
    from rlenv_plugin_constraints.registry import kind_of

    fields = [field for field in kind_of(kind).__attrs_attrs__ if field.init]
    needed = [field for field in fields if field.default is NOTHING]
    return {field.name: USUAL.get(field.name, "the north wind") for field in needed}


Row = tuple[str, float, float, float, float]


def kinds(size: int, repeats: int) -> tuple[list[Row], list[str]]:
    """Of each kind: microseconds at ``size``, with printers' signs, at ten times that; times the
    yardstick.
    """
    from rlenv_plugin_constraints.kinds import KINDS
    from rlenv_plugin_constraints.registry import build
    from rlenv_plugin_constraints.text import Text

    samples = tables()
    rows = []
    skipped = []
    for kind in KINDS:
        parameters, write = samples.get(kind) or (usual_parameters(kind), prose)
        try:
            part = build({"kind": kind, **parameters})
        except Exception as err:
            skipped.append(f"{kind} ({err})")
            continue
        short = write(size)
        long = write(10 * size)
        part.check(Text(short))
        cost = fastest(lambda part=part, raw=short: part.check(Text(raw)), repeats)  # type: ignore[misc]
        signs = short.translate(TYPOGRAPHIC) if write is prose else short
        typo = fastest(lambda part=part, raw=signs: part.check(Text(raw)), max(3, repeats // 3))  # type: ignore[misc]
        more = fastest(lambda part=part, raw=long: part.check(Text(raw)), max(3, repeats // 5))  # type: ignore[misc]
        yard = fastest(lambda raw=short: re.findall(r"\w+", raw), max(3, repeats // 3))  # type: ignore[misc]
        rows.append((kind, cost, typo, more, cost / yard))
    return rows, skipped


def show(rows: list[Row], size: int) -> list[str]:
    """Print the table; the kinds that are over their limit."""
    table = Table(title=f"kinds of constraints, a response of {size:,} characters (CPU)")
    for head in ("kind", "µs", "µs, “…”", "10 times as long", "times findall"):
        table.add_column(head, justify="left" if head == "kind" else "right")
    for kind, cost, typo, more, ratio in sorted(rows, key=lambda row: -row[1]):
        table.add_row(kind, f"{cost:.0f}", f"{typo:.0f}", f"{more / cost:.1f}x", f"{ratio:.1f}")
    Console().print(table)
    return [k for k, cost, *_ in rows if cost > LIMIT.get(k, 200.0) and k not in READERS]


def floors(rows: list[Row], size: int, repeats: int) -> None:
    """What the bare parsers cost on the same documents, and how much more the kinds do."""
    import jsonschema  # type: ignore[import-untyped]
    import yaml  # type: ignore[import-untyped]

    samples = tables()
    program = samples["python"][1](size)
    listed = samples["yaml"][1](size)
    validator = jsonschema.Draft202012Validator(samples["json_schema"][0]["schema"])
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    bare: dict[str, tuple[str, Callable[[], object]]] = {
        "python": ("ast.parse", lambda: ast.parse(program)),
        "yaml": ("yaml.parse", lambda: list(yaml.parse(listed, Loader=loader))),
        "json_schema": ("jsonschema", lambda: list(validator.iter_errors(json.loads(listed)))),
    }
    for prefix, (name, work) in bare.items():
        floor = fastest(work, repeats)
        shares = ", ".join(
            f"{row[0]} {row[1] / floor:.1f}x" for row in rows if row[0].startswith(prefix)
        )
        print(f"{name} alone {floor:.0f} µs: {shares}")


def stage(size: int, repeats: int) -> None:
    """What one verdict of five usual constraints costs, the test of content included."""
    from rlenv_plugin_constraints.stages.all import All

    usual: list[dict[str, Any]] = [
        {"kind": "max_words", "n": 400},
        {"kind": "forbids", "words": ["zebra"]},
        {"kind": "no_comma"},
        {"kind": "bullets", "min": 2},
        {"kind": "ends_with", "text": "said."},
    ]
    attempt = Attempt(
        Task("Tell me of the wind in the north and of those who feared it."), prose(size)
    )
    checked = All(constraints=usual)
    cost = fastest(lambda: checked.check(attempt), repeats)
    print(f"constraints/all with 5 constraints: {cost:.0f} µs per response of {size:,} characters")


def main() -> None:
    """Print the tables, and which kinds are over their limit."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few samples: that everything runs")
    options.add_argument("--size", type=int, default=2000)
    given = options.parse_args()
    repeats = 3 if given.quick else 30
    rows, skipped = kinds(given.size, repeats)
    slow = show(rows, given.size)
    print(f"median {statistics.median(row[1] for row in rows):.0f} µs over {len(rows)} kinds")
    floors(rows, given.size, repeats)
    stage(given.size, repeats)
    if skipped:
        print(f"not timed: {', '.join(skipped)}")
    if slow:
        print(f"over the limit of 200 µs (language: 2 ms): {', '.join(slow)}")


if __name__ == "__main__":
    main()
