"""Whether the tests notice a mistake: change one thing in the code that decides rewards, and see a test fail.

``make mutants`` runs this: mutmut makes and judges the mutants, mutants.toml says of what, and the outcome is
written to docs/mutants.md once all are judged.  What was judged is kept in build/mutants for as long as the code
and its tests stay as they are, so a run that was stopped goes on where it ended.  Ends with an error when a mutant
survives that mutants.toml does not explain.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # `math.py` beside this file would hide `math`

import argparse
import ast
import difflib
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

SETTINGS = ROOT / "benchmarks/mutants.toml"
PAGE = ROOT / "docs/mutants.md"
WORK = ROOT / "build/mutants"
LATE = frozenset({24, 36, 152, 255, -24})  # out of time
KILLED = frozenset({1, 3, -9, -11}) | LATE  # or a test failed, or memory ran out
UNJUDGED = frozenset({None, 2})  # not tried yet, or interrupted
EVERY = 60.0  # seconds from one line of progress to the next
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

    @property
    def judged(self) -> bool:
        return self.status not in UNJUDGED


class Broken(Exception):
    """Mutmut did not do what it was asked."""


def statuses(folder: Path) -> dict[str, int | None]:
    """What mutmut says of each mutant there, by name; raises ValueError while it writes that down."""
    found: dict[str, int | None] = {}
    for meta in (folder / "mutants/src").rglob("*.meta"):
        found |= json.loads(meta.read_text("utf-8"))["exit_code_by_key"]
    return found


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

    def prepare(self, *, fresh: bool) -> None:
        """Copy the code and its tests, and write mutmut's settings; unless that was done, and nothing changed since."""
        if self.current() and not fresh:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        unwanted = shutil.ignore_patterns("__pycache__")
        for inner in ("src", "tests"):
            shutil.copytree(self.source / inner, self.folder / inner, ignore=unwanted)
        shutil.copytree(ROOT / "core/src", self.folder / "core", ignore=unwanted)
        # Python forgets no folder that was missing
        (self.folder / "mutants/src").mkdir(parents=True)
        few = CONFTEST.format(few=self.settings["examples"])
        (self.folder / "conftest.py").write_text(few, "utf-8")
        (self.folder / "pytest.ini").write_text(PYTEST_INI, "utf-8")
        lines = [f"{key} = {json.dumps(value)}" for key, value in self._tool().items()]
        text = "[tool.mutmut]\n" + "\n".join(lines) + "\n"
        (self.folder / "pyproject.toml").write_text(text, "utf-8")
        (self.folder / "stamp").write_text(self._stamp(), "utf-8")

    def _stamp(self) -> str:
        """Differs when anything differs that could change what is judged."""
        said = hashlib.sha256(json.dumps([self._tool(), self.settings, CONFTEST]).encode())
        for folder in (self.source / "src", self.source / "tests", ROOT / "core/src"):
            for path in sorted(folder.rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    said.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
        return said.hexdigest()

    def current(self) -> bool:
        """Whether what was judged before still holds, and can be read."""
        if _text(self.folder / "stamp") != self._stamp():
            return False
        try:
            statuses(self.folder)
        except ValueError:  # stopped while it was written
            return False
        return True

    def concerned(self, only: Sequence[str]) -> bool:
        """Whether any of these words names this part or one of its modules."""
        return not only or any(
            word == self.name or any(word in module for module in self.settings["modules"])
            for word in only
        )

    def _tool(self) -> dict[str, Any]:
        """The settings of mutmut."""
        quiet = ["--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:xdist"]
        for test in self.settings.get("skip", ()):
            quiet += ["--deselect", test]
        return {
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

    def chosen(self, seed: int) -> list[Mutant]:
        """The mutants to judge: all, or a sample when there are more than ``at_most``."""
        every = list(mutants(self.folder, f"{self.settings['folder']}/"))
        at_most = self.settings["at_most"]
        if len(every) <= at_most:
            return every
        return sorted(random.Random(seed).sample(every, at_most))

    def make(self) -> None:
        """Make the mutants, and see which test runs what."""
        if not (self.folder / "mutants/mutmut-stats.json").exists():
            print(f"{self.name}: makes the mutants", flush=True)
            self._mutmut(["none.*"])  # which matches nothing
        if not statuses(self.folder):
            raise Broken(self._last_words())

    def judge(self, names: Sequence[str]) -> None:
        """Judge these; what counts is what was judged, not how mutmut ends."""
        left = list(names)
        while left:
            self._mutmut(left, told=True)
            known = statuses(self.folder)
            still = [name for name in left if known[name] in UNJUDGED]
            if len(still) == len(left):
                raise Broken(self._last_words())
            left = still

    def judge_late(self, names: Iterable[str]) -> None:
        """Judge once more what ran out of time, which a busy machine may be to blame for."""
        seen = self.folder / "late"
        known = statuses(self.folder)
        late = sorted({n for n in names if known[n] in LATE} - set(_text(seen).split()))
        if late:
            print(f"{self.name}: {len(late)} ran out of time, once more", flush=True)
            self.judge(late)
            seen.write_text("\n".join({*_text(seen).split(), *late}), "utf-8")

    def _mutmut(self, names: Sequence[str], *, told: bool = False) -> None:
        paths = [self.folder / "mutants/src", self.folder / "core"]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
        command = [sys.executable, "-m", "mutmut", "run", "--max-children", "1", *names]
        with (
            (self.folder / "mutmut.log").open("a", encoding="utf-8") as log,
            subprocess.Popen(
                command, cwd=self.folder, env=env, stdout=log, stderr=log, start_new_session=True
            ) as child,
        ):
            try:
                self._wait(child, names, told=told)
            except BaseException:
                os.killpg(child.pid, signal.SIGTERM)
                raise

    def _wait(self, child: subprocess.Popen[bytes], names: Sequence[str], *, told: bool) -> None:
        start = time.monotonic()
        while True:
            try:
                child.wait(EVERY)
            except subprocess.TimeoutExpired:
                minutes = (time.monotonic() - start) / 60
                print(f"{self.name}: {minutes:.0f} min" + self._tally(names) * told, flush=True)
            else:
                return

    def _tally(self, names: Sequence[str]) -> str:
        try:
            known = statuses(self.folder)
        except ValueError:
            return ""
        found = [known[name] for name in names if known[name] not in UNJUDGED]
        lived = sum(status not in KILLED for status in found)
        return f", {len(found)} of {len(names)} judged, {lived} survive"

    def _last_words(self) -> str:
        log = self.folder / "mutmut.log"
        return f"mutmut broke, see {log}:\n" + "\n".join(_text(log).splitlines()[-20:])


def _text(path: Path) -> str:
    return path.read_text("utf-8", errors="replace") if path.exists() else ""


def wanted(part: Part, mutant: Mutant, only: Sequence[str]) -> bool:
    """Whether the mutant is among those asked for: by the name of its part, or a piece of its module's path."""
    module = mutant.module.removeprefix(part.settings["folder"])
    return not only or any(word == part.name or word in module for word in only)


def run_part(part: Part, seed: int, only: Sequence[str]) -> None:
    part.make()
    chosen = [m for m in part.chosen(seed) if wanted(part, m, only)]
    left = [m.name for m in chosen if not m.judged]
    print(f"{part.name}: {len(left)} of {len(chosen)} mutants are to be judged", flush=True)
    part.judge(left)
    part.judge_late(m.name for m in chosen)


def explanation(mutant: Mutant, known: Sequence[dict[str, Any]]) -> str | None:
    """Why nobody could see this change, None when nothing was said of it."""
    for item in known:
        if (
            f"{mutant.module}:{mutant.function}" == item["at"]
            and list(mutant.change) == item["change"]
        ):
            return str(item["why"])
    return None


def page(found: Sequence[Mutant], settings: dict[str, Any]) -> tuple[str, int]:
    """(the text of docs/mutants.md, how many survivors nothing explains)."""
    modules = sorted({m.module for m in found})
    rows = [_row(f"`{module}`", [m for m in found if m.module == module]) for module in modules]
    rows.append(_row("**all**", found))
    known = settings.get("equivalent", [])
    why = [(m, explanation(m, known)) for m in found if not m.killed]
    lines = [settings["introduction"].strip(), "", HEAD, *rows, "", "## The survivors", ""]
    lines += [_survivor(m, said) for m, said in why] or ["None."]
    return "\n".join(lines) + "\n", sum(said is None for _, said in why)


HEAD = (
    "| module | mutants | killed | of these by time | survived | share that survived |\n"
    "|---|---:|---:|---:|---:|---:|"
)


def _row(name: str, own: Sequence[Mutant]) -> str:
    lived = sum(not m.killed for m in own)
    late = sum(m.status in LATE for m in own)
    share = lived / len(own)
    return f"| {name} | {len(own)} | {len(own) - lived} | {late} | {lived} | {share:.1%} |"


def _survivor(mutant: Mutant, said: str | None) -> str:
    shown = " ".join(f"`` {line} ``" for line in mutant.change)
    return f"- `{mutant.module}`, `{mutant.function}`: {shown} — {said or '**not explained**'}"


def report(chosen: Sequence[Mutant], settings: dict[str, Any], *, complete: bool) -> None:
    """Print what is known, and write the page when that is everything."""
    found = sorted((m for m in chosen if m.judged), key=lambda m: m.module)
    if not found:
        sys.exit("no mutant was judged")
    text, unexplained = page(found, settings)
    print(text[text.index(HEAD) :])
    if complete and len(found) == len(chosen):
        PAGE.write_text(text, "utf-8")
    else:
        print(f"{PAGE.name} stays as it is: {len(chosen) - len(found)} or more are not judged yet")
    if unexplained:
        sys.exit(f"{unexplained} mutants survive and are not explained in {SETTINGS.name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="parts (core, math) or pieces of modules' paths")
    parser.add_argument("--fresh", action="store_true", help="forget what was judged before")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    settings = tomllib.loads(SETTINGS.read_text("utf-8"))
    seed = settings["seed"]
    parts = [Part(name, own) for name, own in settings["part"].items()]
    running = [part for part in parts if part.concerned(given.only)]
    if not running:
        sys.exit(f"no part and no module of {SETTINGS.name} is called {' or '.join(given.only)}")
    try:
        for part in running:
            part.prepare(fresh=given.fresh)
            run_part(part, seed, given.only)
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on where this ended")
    except Broken as error:
        sys.exit(str(error))
    current = [part for part in parts if part.current()]
    chosen = [mutant for part in current for mutant in part.chosen(seed)]
    report(chosen, settings, complete=len(current) == len(parts))


if __name__ == "__main__":
    main()
