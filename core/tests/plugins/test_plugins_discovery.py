"""Finding plugins reads metadata, imports nothing, and never raises."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from rlenv.plugins import registry
from rlenv.plugins.registry import installed

Install = Callable[..., Path]


def test_core_is_always_there() -> None:
    assert installed()["core"].target == "rlenv.plugins.core_plugin"


def test_a_distribution_is_found_with_its_name_and_version(install: Install) -> None:
    install("rlenv-plugin-Fancy.one", "2.1", {"fancy": "fancy_one"}, fancy_one="1/0")

    info = installed()["fancy"]

    assert (info.distribution, info.version, info.target, info.error) == (
        "rlenv-plugin-Fancy.one", "2.1", "fancy_one", None,
    )  # fmt: skip
    assert "fancy_one" not in sys.modules


def test_we_see_what_importlib_sees(install: Install) -> None:
    install("alpha", plugins={"a": "alpha", "b": "alpha:part [extra]"})
    install("beta", plugins={"c": "beta"}, group="rlenv.environments")

    for group in ("rlenv", "rlenv.environments", "console_scripts"):
        if group != "console_scripts":  # distributions of no concern to rlenv are not read
            ours = {(e.name, e.target) for e in registry.entries(group)}
            theirs = {
                (e.name, e.value.partition("[")[0].strip()) for e in entry_points(group=group)
            }
            assert theirs == ours


def test_comments_and_other_groups_are_not_plugins(install: Install) -> None:
    info = install("gamma", plugins={"g": "gamma"})
    (info / "entry_points.txt").write_text(
        "[other]\nx = y\n\n[rlenv]\n# z = z\ng=gamma\n\n[rlenv.commands]\nq = r\n"
    )

    assert {e.name for e in registry.entries("rlenv") if e.distribution == "gamma"} == {"g"}


def test_the_first_on_the_path_counts(install: Install, tmp_path: Path) -> None:
    install("delta", "2.0", {"delta": "new"})
    install("delta", "1.0", {"delta": "old"}, folder=tmp_path / "later")
    sys.path.append(str(tmp_path / "later"))
    try:
        assert installed()["delta"].target == "new"
    finally:
        sys.path.remove(str(tmp_path / "later"))


def test_two_distributions_with_one_name_are_both_named(install: Install) -> None:
    install("one", "1.0", {"twin": "one"})
    install("two", "2.0", {"twin": "two"})

    error = installed()["twin"].error

    assert error is not None
    assert "one 1.0" in error
    assert "two 2.0" in error


def test_nobody_can_take_the_name_core(install: Install) -> None:
    install("evil", plugins={"core": "evil"})

    assert "evil 1.0" in (installed()["core"].error or "")


def test_broken_metadata_hides_nothing_else(install: Install, site: Path) -> None:
    install("good", plugins={"good": "good"})
    (site / "bad-1.0.dist-info").write_bytes(b"\xff not a folder")
    torn = site / "torn-1.0.dist-info"
    torn.mkdir()
    (torn / "entry_points.txt").write_bytes(b"[rlenv\nnothing\xff\n=\n[rlenv]\n = \n")
    sys.path.insert(0, str(site / "nowhere"))
    try:
        assert "good" in installed()
    finally:
        sys.path.remove(str(site / "nowhere"))


def test_legacy_egg_info_counts(site: Path) -> None:
    info = site / "legacy_plugin.egg-info"
    info.mkdir()
    (info / "PKG-INFO").write_text("Metadata-Version: 1.0\nName: legacy-plugin\nVersion: 0.3\n")
    (info / "entry_points.txt").write_text("[rlenv]\nlegacy = legacy_mod\n")

    assert (installed()["legacy"].distribution, installed()["legacy"].version) == (
        "legacy-plugin", "0.3",
    )  # fmt: skip


def test_a_zip_on_the_path_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "plugins.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("zipped-1.5.dist-info/METADATA", "Name: zipped\nVersion: 1.5\n")
        file.writestr("zipped-1.5.dist-info/entry_points.txt", "[rlenv]\nzipped = zipped_mod\n")
    monkeypatch.syspath_prepend(str(archive))

    assert installed()["zipped"].version == "1.5"
    assert "core" in installed()


def test_a_finder_of_its_own_counts(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install("seen", plugins={"seen": "seen"})

    class Finder:
        @staticmethod
        def find_spec(*_: object) -> None:
            return None

        @staticmethod
        def find_distributions(*_: object) -> list[object]:
            return []

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    registry._entries.cache_clear()

    assert "seen" in installed()


def test_versions_of_distributions(install: Install) -> None:
    install("some-thing", "3.4")

    assert registry.version("Some.Thing") == "3.4"
    assert registry.version("attrs") is not None
    assert registry.version("not-installed-at-all") is None
