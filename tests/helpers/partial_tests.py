"""Run a part of the tests: those of one distribution, or of what changed, with the rules.

    python tests/helpers/partial_tests.py math        # make test PKG=math
    python tests/helpers/partial_tests.py --changed   # make test-changed

It prints each file or folder with the reason why it runs, then runs pytest on them without the
slow tests. Words after ``--pytest`` are options of pytest. A change is merged only after the whole
suite, ``make test``, has passed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from pages import PAGES

ROOT = Path(__file__).resolve().parents[2]
# Tests of the root folder that run environments, commands or installations. The others read the
# sources, and are the rules of the repository.
NOT_RULES = frozenset(
    [
        "test_audit_wild",
        "test_documents_run",
        "test_end_to_end_same",
        "test_end_to_end_score",
        "test_fingerprints",
        "test_forks",
        "test_growth",
        "test_install",
        "test_least_timeouts",
        "test_readme",
        "test_rewards",
        "test_safe_options",
        "test_scaffold",
        "test_shaping",
        "test_soak",
        "test_temporary",
        "test_unrelated_plugins",
        "test_unscored",
        "test_visible_text",
    ]
)
EXAMPLE = "test_example_"
PAGE = "tests/test_documents_run.py::test_everything_that_a_page_shows_runs"
LAWS = "contrib/rlenv-testing/tests"
# In each plugin, the tests of its hooks, examples and attacks as core meets them.
MEETS_CORE = "plugins/*/tests/test_*_plugin.py"
# Files that decide how all tests run.
EVERYWHERE = ("conftest.py", "pyproject.toml", "Makefile", "requirements/")
BASES = ("main", "origin/main", "origin/HEAD")

# Path of a test or a folder of tests → why it runs.
Selection = dict[str, str]


class UnknownDistributionError(Exception):
    """No distribution has this name; the message has the nearest one."""


def distributions(root: Path) -> dict[str, Path]:
    """Short name of each distribution → its folder: `math` → `plugins/rlenv-plugin-math`."""
    manifests = (
        *root.glob("core/pyproject.toml"),
        *root.glob("plugins/*/pyproject.toml"),
        *root.glob("contrib/*/pyproject.toml"),
    )
    folders = {short(manifest.parent.name): manifest.parent for manifest in manifests}
    return dict(sorted(folders.items()))


def short(name: str) -> str:
    """`math` for `rlenv-plugin-math`, `rlenv_plugin_math` and `plugins/rlenv-plugin-math/`."""
    last = PurePosixPath(name).name.lower().replace("_", "-")
    return last.removeprefix("rlenv-").removeprefix("plugin-")


def rules(root: Path) -> list[str]:
    """The tests that read the sources of the whole repository and run none of them."""
    return [
        f"tests/{path.name}"
        for path in sorted(root.glob("tests/test_*.py"))
        if path.stem not in NOT_RULES and not path.stem.startswith(EXAMPLE)
    ]


def of_distribution(name: str, root: Path) -> Selection:
    """The tests of one distribution.

    Args:
        name: its name or its folder; the prefixes `rlenv-` and `rlenv-plugin-` may be left out.
        root: the root folder of the repository.

    Raises:
        UnknownDistributionError: there is no such distribution.
    """
    found = distributions(root)
    wanted = short(name)
    if wanted not in found:
        near = get_close_matches(wanted, found, 1)
        hint = f"did you mean PKG={near[0]}?" if near else f"choose from {', '.join(found)}"
        raise UnknownDistributionError(f"PKG={name}: there is no such distribution; {hint}")
    folder = found[wanted].relative_to(root)
    return {f"{folder}/tests": f"PKG={name}"}


def of_changes(paths: Iterable[str], root: Path) -> Selection:
    """The tests that a change of these files calls for.

    Args:
        paths: files relative to the root folder, with slashes; they need not exist any more.
        root: the root folder of the repository.
    """
    selected: Selection = {}
    for path in sorted(paths):
        for test, reason in _of_change(path, root):
            selected.setdefault(test, reason)
    return selected


def _of_change(path: str, root: Path) -> Iterator[tuple[str, str]]:
    folders = [folder.relative_to(root).as_posix() for folder in distributions(root).values()]
    for folder in folders:
        if path.startswith(f"{folder}/"):
            yield f"{folder}/tests", f"{path} changed"
    if path.startswith("core/src/"):
        yield LAWS, f"core changed ({path}), and these test the laws"
        for test in sorted(root.glob(MEETS_CORE)):
            yield test.relative_to(root).as_posix(), f"core changed ({path}), and a plugin meets it"
    if root / path in PAGES:
        yield f"{PAGE}[{path}]", "it changed, and what it shows must run"
    if not path.startswith(tuple(f"{folder}/" for folder in folders)):
        yield from _of_root(PurePosixPath(path), root)


def _of_root(path: PurePosixPath, root: Path) -> Iterator[tuple[str, str]]:
    """The tests of the root folder that are this file or mention it."""
    if path.match("tests/test_*.py"):
        if (root / path).exists():
            yield str(path), "it changed"
        return
    mentioned = _names_of(path)
    for test in sorted(root.glob("tests/test_*.py")):
        text = test.read_text("utf-8")
        if any(name in text for name in mentioned):
            yield f"tests/{test.name}", f"{path} changed, and this test uses it"


def _names_of(path: PurePosixPath) -> tuple[str, ...]:
    """How a test of the root folder would name this file."""
    if path.match("tests/helpers/*.py"):
        return (f"from {path.stem} import", f"import {path.stem}\n")
    if path.parts[0] == "examples" and len(path.parts) > 2:
        name = path.parts[1]
        return (f"examples/{name}", f'"{name}"')
    if path.parts[0] == "benchmarks":
        return (f'"{path.name}"', f"benchmarks.{path.stem} ", f"benchmarks import {path.stem}")
    return (f'"{path.name}"',) if len(path.parts) == 1 else ()


def is_everywhere(path: str) -> bool:
    """True for a file that decides how all tests run."""
    return path.startswith(EVERYWHERE) or PurePosixPath(path).match("tests/conftest.py")


def changed(root: Path) -> tuple[str, list[str]]:
    """Returns (what the working tree is compared with, the changed files).

    These are the files of the commits since the merge base with the main branch, of uncommitted
    changes, and those that git does not track or ignore.
    """
    base = next((name for name in BASES if _git(root, "rev-parse", "-q", "--verify", name)), "HEAD")
    since = _git(root, "merge-base", "HEAD", base) or ["HEAD"]
    # Without renames, a file that moved to another distribution counts in both.
    tracked = _git(root, "diff", "--name-only", "--no-renames", since[0])
    untracked = _git(root, "ls-files", "--others", "--exclude-standard")
    return f"{base} ({since[0][:9]})", sorted({*tracked, *untracked})


def _git(root: Path, *words: str) -> list[str]:
    command = ["git", "-c", "core.quotepath=off", *words]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return ran.stdout.splitlines() if ran.returncode == 0 else []


def explain(selected: Mapping[str, str], found_rules: Sequence[str]) -> Iterator[str]:
    """Lines that say what runs and why."""
    for test, reason in selected.items():
        yield f"  {test}: {reason}"
    yield f"  {len(found_rules)} rules of the repository, tests/test_*.py that read the sources"
    yield "  left out: slow tests, and the tests of everything else; `make test` runs all"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", nargs="?", help="a distribution, such as math")
    parser.add_argument("--changed", action="store_true", help="what changed since main")
    parser.add_argument("--dry-run", action="store_true", help="print what would run")
    parser.add_argument("--pytest", nargs=argparse.REMAINDER, default=[], help="options of pytest")
    given = parser.parse_args(words)
    if bool(given.name) == given.changed:
        parser.error("give a distribution or --changed")
    if given.changed:
        selected = _announced_changes()
    else:
        try:
            selected = of_distribution(given.name, ROOT)
        except UnknownDistributionError as err:
            print(err, file=sys.stderr)
            return 2
    found_rules = rules(ROOT)
    print("running", *explain(selected, found_rules), sep="\n", flush=True)
    if given.dry_run:
        return 0
    # Few pages are run by `make test`; one that changed is, however long it takes.
    pages = [test for test in selected if test.startswith(PAGE)]
    others = [test for test in dict.fromkeys([*selected, *found_rules]) if test not in pages]
    status = _run_pytest(*given.pytest, "-m", "not slow", *others)
    return status or (_run_pytest(*given.pytest, *pages) if pages else 0)


def _run_pytest(*arguments: str) -> int:
    try:
        return subprocess.run(
            [sys.executable, "-m", "pytest", *arguments], cwd=ROOT, check=False
        ).returncode
    except KeyboardInterrupt:  # pytest has said so
        return 130


def _announced_changes() -> Selection:
    base, paths = changed(ROOT)
    print(f"{len(paths)} files differ from {base}")
    everywhere = [path for path in paths if is_everywhere(path)]
    if everywhere:
        print(f"note: {', '.join(everywhere)} may change how any test runs: use `make test`")
    return of_changes(paths, ROOT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
