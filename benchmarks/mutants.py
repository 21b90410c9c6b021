"""Whether the tests notice a mistake: change one thing in the code that decides rewards, and see a
test fail.

``make mutants`` runs this: mutmut makes and judges the mutants, mutants.toml says of what, and the
outcome is
written to docs/mutants.md once all are judged.  What was judged is kept in build/mutants for as
long as the code and its tests stay as they are, so a run that was stopped goes on where it ended.
Ends with an error when a mutant survives that mutants.toml does not explain.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # so that `benchmarks` is a package

import argparse
import signal
import tomllib
from collections.abc import Sequence
from typing import Any

from benchmarks.mutated import LATE, Mutant
from benchmarks.mutating import Broken, Part

SETTINGS = ROOT / "benchmarks/mutants.toml"
PAGE = ROOT / "docs/mutants.md"


def wanted(part: Part, mutant: Mutant, only: Sequence[str]) -> bool:
    """Whether the mutant is among those asked for: by the name of its part, or a piece of its
    module's path.
    """
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


def needless(found: Sequence[Mutant], known: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The explanations of mutants that are killed, or are no more."""
    lived = [m for m in found if not m.killed]
    return [item for item in known if not any(explanation(m, [item]) for m in lived)]


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
        for item in needless(found, settings.get("equivalent", [])):
            print(f"{SETTINGS.name} explains what does not survive: {item['at']} {item['change']}")
    else:
        print(f"{PAGE.name} stays as it is until all mutants are judged")
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
    chosen = [m for part in current for m in part.chosen(seed) if wanted(part, m, given.only)]
    report(chosen, settings, complete=len(current) == len(parts) and not given.only)


if __name__ == "__main__":
    main()
