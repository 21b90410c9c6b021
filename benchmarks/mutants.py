"""Whether the tests notice a mistake: change one thing in the code that decides rewards, and see a test fail.

``make mutants`` runs this: mutmut makes and judges the mutants, mutants.toml says of what, and the outcome is
written to docs/mutants.md.  It ends with an error when a mutant survives that mutants.toml does not explain.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # `math.py` beside this file would hide `math`

import argparse
import ast
import difflib
import json
import os
import random
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

SETTINGS = ROOT / "benchmarks/mutants.toml"
PAGE = ROOT / "docs/mutants.md"
WORK = ROOT / "build/mutants"
KILLED = frozenset(
    {1, 3, 24, 36, 152, 255, -24, -9, -11}
)  # a test failed, or time or memory ran out
PYTEST_INI = """[pytest]
filterwarnings = error
markers =
    slow: takes long
    data: needs data
"""
CONFTEST = '''"""Laws are tried with the same few examples for each mutant, after the other tests, and are not shrunk."""

import os

from hypothesis import Phase, settings

os.environ.setdefault("RLENV_SECRET", "for tests only")
FEW = {few}
quick = {{"phases": (Phase.explicit, Phase.generate), "database": None, "deadline": None, "derandomize": True}}
settings.register_profile("mutants", max_examples=FEW, **quick)
settings.load_profile("mutants")
OWN = "_hypothesis_internal_use_settings"


def pytest_collection_modifyitems(items):
    for item in items:
        own = getattr(getattr(item, "obj", None), OWN, None)
        if own is not None:
            setattr(item.obj, OWN, settings(own, max_examples=min(FEW, own.max_examples)))
    items.sort(key=lambda item: hasattr(getattr(item, "obj", None), "hypothesis"))
'''
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


def mutants(folder: Path, prefix: str) -> Iterator[Mutant]:
    """Every mutant that mutmut made there, but those that only reword a message."""
    for meta in sorted((folder / "mutants/src").rglob("*.meta")):
        statuses = json.loads(meta.read_text("utf-8"))["exit_code_by_key"]
        source = meta.with_suffix("")
        bodies = _functions(source) if statuses else {}
        module = prefix + source.relative_to(folder / "mutants").as_posix()
        for name, status in statuses.items():
            short = name.rpartition(".")[2]
            original, mutated = bodies[_original(short)], bodies[short]
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
    ours, theirs = list(ast.walk(original)), list(ast.walk(mutated))
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


class Part:
    """One distribution: copied, mutated and tested in a folder of its own."""

    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        self.name = name
        self.settings = settings
        self.source = ROOT / settings["folder"]
        self.folder = WORK / name

    def prepare(self) -> None:
        """Copy the code and its tests, and write mutmut's settings."""
        shutil.rmtree(self.folder, ignore_errors=True)
        unwanted = shutil.ignore_patterns("__pycache__")
        for inner in ("src", "tests"):
            shutil.copytree(self.source / inner, self.folder / inner, ignore=unwanted)
        (self.folder / "mutants/src").mkdir(
            parents=True
        )  # Python forgets no folder that was missing
        (self.folder / "conftest.py").write_text(
            CONFTEST.format(few=self.settings["examples"]), "utf-8"
        )
        (self.folder / "pytest.ini").write_text(PYTEST_INI, "utf-8")
        quiet = ["--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:xdist"]
        for test in self.settings.get("skip", ()):
            quiet += ["--deselect", test]
        tool = {
            "source_paths": ["src"],
            "only_mutate": self.settings["modules"],
            "also_copy": ["conftest.py", "pytest.ini"],
            "pytest_add_cli_args": quiet,
            "pytest_add_cli_args_test_selection": self.settings["tests"],
            "timeout_multiplier": 5.0,
            "timeout_constant": 3.0,
            "use_git_change_detection": False,
            "track_dependencies": False,
        }
        lines = [f"{key} = {json.dumps(value)}" for key, value in tool.items()]
        text = "[tool.mutmut]\n" + "\n".join(lines) + "\n"
        (self.folder / "pyproject.toml").write_text(text, "utf-8")

    def mutmut(self, names: Sequence[str]) -> int:
        """Judge these mutants; make them first when there are none."""
        paths = [self.folder / "mutants/src", ROOT / "core/src"]
        found = os.pathsep.join(map(str, paths))
        command = [sys.executable, "-m", "mutmut", "run", "--max-children", "1", *names]
        with (self.folder / "mutmut.log").open("a", encoding="utf-8") as log:
            return subprocess.run(
                command,
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": found},
                stdout=log,
                stderr=log,
                check=False,
            ).returncode

    def chosen(self, seed: int) -> list[Mutant]:
        """The mutants to judge: all, or a sample when there are more than ``at_most``."""
        every = list(mutants(self.folder, f"{self.settings['folder']}/"))
        at_most = self.settings["at_most"]
        if len(every) <= at_most:
            return every
        return sorted(random.Random(seed).sample(every, at_most))


def run_part(part: Part, seed: int) -> list[Mutant]:
    part.prepare()
    part.mutmut(["none.*"])  # matches nothing: only makes the mutants and sees which test runs what
    chosen = part.chosen(seed)
    print(f"{part.name}: {len(chosen)} mutants", flush=True)
    if not chosen or part.mutmut([m.name for m in chosen]):
        sys.exit(f"mutmut broke, see {part.folder / 'mutmut.log'}")
    return judged(part, seed)


def judged(part: Part, seed: int) -> list[Mutant]:
    return part.chosen(seed)


def explanation(mutant: Mutant, known: Sequence[dict[str, Any]]) -> str | None:
    """Why nobody could see this change, None when nothing was said of it."""
    for item in known:
        if (
            f"{mutant.module}:{mutant.function}" == item["at"]
            and list(mutant.change) == item["change"]
        ):
            return str(item["why"])
    return None


def page(found: dict[str, list[Mutant]], settings: dict[str, Any]) -> tuple[str, int]:
    """(the text of docs/mutants.md, how many survivors nothing explains)."""
    rows, survivors = [], []
    for part in found.values():
        for module in sorted({m.module for m in part}):
            own = [m for m in part if m.module == module]
            rows.append(_row(f"`{module}`", own))
            survivors += [m for m in own if not m.killed]
    everything = [m for part in found.values() for m in part]
    rows.append(_row("**all**", everything))
    known = settings.get("equivalent", [])
    why = [(m, explanation(m, known)) for m in survivors]
    lines = [settings["introduction"].strip(), "", HEAD, *rows, "", "## The survivors", ""]
    lines += [_survivor(m, said) for m, said in why] or ["None."]
    return "\n".join(lines) + "\n", sum(said is None for _, said in why)


HEAD = "| module | mutants | killed | survived | share that survived |\n|---|---:|---:|---:|---:|"


def _row(name: str, own: list[Mutant]) -> str:
    lived = sum(not m.killed for m in own)
    return f"| {name} | {len(own)} | {len(own) - lived} | {lived} | {lived / len(own):.1%} |"


def _survivor(mutant: Mutant, said: str | None) -> str:
    shown = " ".join(f"`` {line} ``" for line in mutant.change)
    return f"- `{mutant.module}`, `{mutant.function}`: {shown} — {said or '**not explained**'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help="the parts of mutants.toml to run; all by default")
    parser.add_argument("--report", action="store_true", help="write the page from the last run")
    given = parser.parse_args()
    settings = tomllib.loads(SETTINGS.read_text("utf-8"))
    seed = settings["seed"]
    found = {}
    for name, own in settings["part"].items():
        part = Part(name, own)
        rerun = not given.report and (not given.parts or name in given.parts)
        found[name] = run_part(part, seed) if rerun else judged(part, seed)
    text, unexplained = page(found, settings)
    PAGE.write_text(text, "utf-8")
    print(text)
    if unexplained:
        sys.exit(f"{unexplained} mutants survive and are not explained in {SETTINGS.name}")


if __name__ == "__main__":
    main()
