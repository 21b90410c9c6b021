"""What mutmut made of the code, and what it says of it; for mutants.py."""

from __future__ import annotations

import ast
import difflib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LATE = frozenset({24, 36, 152, 255, -24})  # out of time
KILLED = frozenset({1, 3, -9, -11}) | LATE  # or a test failed, or memory ran out
UNJUDGED = frozenset({None, 2})  # not tried yet, or interrupted
_NUMBERED = re.compile(r"__mutmut_(?:orig|\d+)")
_SENTENCE = re.compile(r"[a-z,:;)] +[a-z(]", re.IGNORECASE)


class Mutant(NamedTuple):
    """One change: ``change`` holds the lines that went ("- …") and came ("+ …")."""

    name: str
    module: str
    function: str
    change: tuple[str, ...]
    status: int | None = None

    @property
    def killed(self) -> bool:
        return self.status in KILLED

    @property
    def judged(self) -> bool:
        return self.status not in UNJUDGED


def statuses(folder: Path) -> dict[str, int | None]:
    """What mutmut says of each mutant there, by name; raises ValueError while it writes that
    down.
    """
    found: dict[str, int | None] = {}
    for meta in (folder / "mutants/src").rglob("*.meta"):
        found |= json.loads(meta.read_text("utf-8"))["exit_code_by_key"]
    return found


def mutants(folder: Path, prefix: str) -> Iterator[Mutant]:
    """Every mutant that mutmut made there, but those that only reword a message."""
    for meta in sorted((folder / "mutants/src").rglob("*.meta")):
        known = json.loads(meta.read_text("utf-8"))["exit_code_by_key"]
        source = meta.with_suffix("")
        bodies = _functions(source) if known else {}
        module = prefix + source.relative_to(folder / "mutants").as_posix()
        for name, status in known.items():
            short = name.rpartition(".")[2]
            original = bodies[_original(short)]
            mutated = bodies[short]
            if not rewords(original, mutated):
                yield Mutant(name, module, _readable(short), change(original, mutated), status)


def _functions(path: Path) -> dict[str, ast.AST]:
    tree = ast.parse(path.read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name: node for node in ast.walk(tree) if isinstance(node, kinds)}


def _original(short: str) -> str:
    return short.rpartition("__mutmut_")[0] + "__mutmut_orig"


def _readable(short: str) -> str:
    """``xǁSlotǁkind__mutmut_3`` is Slot.kind, ``x__is_name__mutmut_1`` is _is_name."""
    bare = short.rpartition("__mutmut_")[0]
    return ".".join(bare.split("ǁ")[1:]) if "ǁ" in bare else bare.removeprefix("x_")


def rewords(original: ast.AST, mutated: ast.AST) -> bool:
    """Whether the two differ in a single text that is a sentence."""
    ours = list(ast.walk(original))
    theirs = list(ast.walk(mutated))
    if [type(n) for n in ours] != [type(n) for n in theirs]:
        return False
    texts = [
        (a.value, b.value)
        for a, b in zip(ours, theirs, strict=True)
        if isinstance(a, ast.Constant) and isinstance(b, ast.Constant) and a.value != b.value
    ]
    return len(texts) == 1 and isinstance(texts[0][0], str) and bool(_SENTENCE.search(texts[0][0]))


def change(original: ast.AST, mutated: ast.AST) -> tuple[str, ...]:
    before, after = (
        _NUMBERED.sub("", ast.unparse(tree)).splitlines() for tree in (original, mutated)
    )
    lines = difflib.unified_diff(before, after, n=0, lineterm="")
    kept = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    return tuple(f"{line[0]} {line[1:].strip()}" for line in kept)
