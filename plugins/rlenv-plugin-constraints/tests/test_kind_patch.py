"""Patches that touch only what they may, with git and difflib as the ones that write and apply
them.
"""

from __future__ import annotations

import difflib
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import ConfigError
from rlenv_plugin_constraints.kinds.patch import PatchPaths
from rlenv_plugin_constraints.text import Text

RULE = PatchPaths(allow=("src/**",), forbid=("src/secret.py",))


def diff(old: str, new: str, before: str, after: str) -> str:
    return "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), before, after))


FINE = diff("a\nb\n", "a\nc\n", "a/src/x.py", "b/src/x.py")
MAIL = (
    "From 0123456789abcdef Mon Sep 17 00:00:00 2001\n"
    "From: A <a@b.c>\n"
    "Subject: [PATCH] x\n\n"
    "---\n"
    " src/x.py | 2 +-\n\n"
)
RENAME = "diff --git a/src/a b/{0}\nsimilarity index 100%\nrename from src/a\nrename to {1}\n"
NEW = (
    "diff --git a/src/a b/src/a\nnew file mode {0}\n--- /dev/null\n+++ b/src/a\n@@ -0,0 +1 @@\n+x\n"
)


@pytest.mark.parametrize(
    "patch",
    [
        FINE,
        f"```diff\n{FINE}```",
        MAIL + FINE + "-- \n2.39.5\n\n",
        "diff --git a/src/x.py b/src/x.py\nindex 1..2 100644\n" + FINE,
        RENAME.format("src/b", "src/b"),
        NEW.format("100644"),
        FINE.replace("\n", "\r\n"),
        FINE + FINE.replace("x.py", "y.py"),
    ],
)
def test_a_patch_within_its_paths(patch: str) -> None:
    assert RULE.check(Text(patch)).satisfied


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "No patch at all.",
        FINE.replace("src/x.py", "tests/t.py"),
        FINE + FINE.replace("src/x.py", "tests/t.py"),
        FINE.replace("src/x", "src/../y"),
        FINE.replace("a/src", "/src").replace("b/src", "/src"),
        FINE.replace("b/src", "b/tests"),
        FINE.replace("a/src", "a/tests"),
        "diff --git a/tests/x b/tests/x\n" + FINE,
        RENAME.format("tests/b", "tests/b"),
        RENAME.format("src/b", "tests/b"),
        RENAME.format("src/b", "src/b").replace("rename from src/a\n", ""),
        RENAME.format("src/b", "src/b").replace("rename", "copy").replace("to src/b", "to tests/b"),
        "diff --git a/src/a b/src/a\nold mode 100644\nnew mode 100755\n",
        NEW.format("120000"),
        NEW.format("160000"),
        NEW.format("104755"),
        "diff --git a/src/a b/src/a\nindex 1..2 120000\n" + FINE.replace("src/x.py", "src/a"),
        FINE.replace("src/x.py", "src/Secret.py"),
        FINE.replace("src/x.py", "src/.git/config"),
        FINE.replace("src/x.py", "src/.GIT/config"),
        FINE.replace("src/x.py", "src\\..\\t.py"),
        FINE.replace("a/src/x.py", '"a/src/\\056\\056/\\303\\244"').replace(
            "b/src/x.py", '"b/src/\\056\\056/\\303\\244"'
        ),
        FINE.replace("a/src/x.py", '"a/tests/x"').replace("b/src/x.py", '"b/tests/x"'),
        FINE[:-3],
        FINE.replace("-b", " b").replace("+c", " b"),
        FINE.replace("@@ -1,2 +1,2 @@", "@@ -1,1 +1,1 @@"),
        FINE.replace("@@ -1,2 +1,2 @@", "@@ -1,3 +1,3 @@"),
        "*** a/tests/x\n--- b/tests/x\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n" + FINE,
        "Index: tests/x\n" + FINE,
        diff("a\n", "b\n", "src/x", "src/x"),
        "diff --git a/src/a b/src/a\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZ\n\n",
        "Here it is\n" + FINE,
        FINE + "\nThat is it",
        "--- a/src/x\n+++ b/src/x\n",
        "--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+x\n",
        "--- src\n+++ src\n@@ -1 +1 @@\n-a\n+b\n",
        f"```diff\n{FINE}```\n```diff\n{FINE}```",
        "\ud800",
    ],
)
def test_a_patch_that_is_none_or_goes_elsewhere(patch: str) -> None:
    assert not RULE.check(Text(patch)).satisfied


def test_what_it_may_do_is_an_option() -> None:
    assert not PatchPaths(allow=("src/",), create=False).check(Text(NEW.format("100644"))).satisfied
    assert (
        not PatchPaths(allow=("src/",), rename=False)
        .check(Text(RENAME.format("src/b", "src/b")))
        .satisfied
    )
    assert PatchPaths(allow=("src/",), symlink=True).check(Text(NEW.format("120000"))).satisfied
    two = Text(FINE + FINE.replace("x.py", "y.py"))
    assert not PatchPaths(allow=("src/",), max_files=1).check(two).satisfied
    assert (
        PatchPaths(allow=("src/*",), strip=0)
        .check(Text(diff("a\n", "b\n", "src/x", "src/x")))
        .satisfied
    )


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/b/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/b/c/a.py", True),
        ("src/", "src/b/c", True),
        ("src", "src/b", False),
        ("**/test_*", "a/b/test_x", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[ab].py", "a.py", True),
        ("[!ab].py", "a.py", False),
        ("a.py", "axpy", False),
    ],
)
def test_globs(glob: str, path: str, fits: bool) -> None:
    patch = diff("a\n", "b\n", f"a/{path}", f"b/{path}")
    assert PatchPaths(allow=(glob,)).check(Text(patch)).satisfied is fits


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"allow": ("/etc",)},
        {"allow": ("../x",)},
        {"allow": ("",)},
        {"allow": ("a",), "forbid": ("a",)},
        {"allow": ("a",), "strip": 10},
    ],
)
def test_options_that_make_no_sense(options: Any) -> None:
    with pytest.raises(ConfigError):
        PatchPaths(**options)


LINES = st.lists(
    st.sampled_from(["a", "", "-- x", "++ y", "@@ -1 +1 @@", "diff --git a/x b/x", "\\ z"]),
    max_size=8,
)
PATHS = st.sampled_from(["src/x.py", "src/a b.py", "tests/x.py", "src/deep/y.py", "x"])


@given(LINES, LINES, PATHS)
def test_a_patch_of_difflib_is_satisfied_exactly_when_its_path_is_allowed(
    old: list[str], new: list[str], path: str
) -> None:
    if old == new:
        return
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    patch = diff(before, after, f"a/{path}", f"b/{path}")
    assert RULE.check(Text(patch)).satisfied is path.startswith("src/")


def git(folder: Path, *words: str, feed: str | None = None) -> str:
    clean = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    ran = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words],
        cwd=folder,
        env=clean,
        input=feed,
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


@pytest.mark.parametrize("where", ["src", "tests"])
def test_git_writes_what_is_read(tmp_path: Path, where: str) -> None:
    git(tmp_path, "init", "-q")
    home = tmp_path / where
    home.mkdir()
    for name in ("a b.py", "ä.py", "gone.py", "moved.py", 'q"t.py'):
        (home / name).write_text("".join(f"{name} {n}\n" for n in range(30)), encoding="utf-8")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "x")
    (home / "a b.py").write_text("other\nno newline", encoding="utf-8")
    (home / "ä.py").write_text("ä 0\n-- x\n", encoding="utf-8")
    (home / 'q"t.py').write_text("x\n", encoding="utf-8")
    (home / "gone.py").unlink()
    (home / "moved.py").rename(home / "new name.py")
    (home / "empty.py").touch()
    git(tmp_path, "add", "-A")
    for options in ([], ["--no-renames"], ["-M", "-C"], ["--unified=0"], ["--stat", "-p"]):
        found = RULE.check(Text(git(tmp_path, "diff", "--cached", *options)))
        if "--stat" not in options:
            assert found.satisfied is (where == "src"), (options, found)
    assert len(found.measured or ()) in (0, 7)


@pytest.mark.parametrize(
    ("start", "unit"),
    [
        ("", "--- a/src/x\n+++ b/src/x\n@@ -1 +1 @@\n-a\n+b\n"),
        ("", "diff --git "),
        ("", "diff --git a/src/x b/src/x\n"),
        ("", "\n"),
        (FINE, "-- \n"),
        ('+++ "', "\\303"),
        ("", "["),
    ],
)
def test_work_grows_with_the_patch_and_no_faster(start: str, unit: str) -> None:
    assert isinstance(RULE.check(Text(start + unit * 1000)).satisfied, bool)
    assert_linear(lambda text: RULE.check(Text(start + text)), unit)
