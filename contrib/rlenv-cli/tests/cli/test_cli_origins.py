"""``rlenv doctor`` says where distributions come from, and warns of other projects of their
names.
"""

from __future__ import annotations

import json
from importlib.metadata import distributions
from pathlib import Path

import pytest
from rlenv_cli.machine.origins import origins, shadowed

ENTRY = "[rlenv]\nmine = somebody_s_plugin\n"


def install(folder, name, version="1.0", url=None, entries=None):
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    if url is not None:
        (info / "direct_url.json").write_text(url if isinstance(url, str) else json.dumps(url))
    if entries is not None:
        (info / "entry_points.txt").write_text(entries)
    return info


def found(folder):
    return {each.name: each for each in origins(distributions(path=[str(folder)]))}


def test_distributions_of_the_repository_and_plugins_of_others_are_listed(tmp_path):
    install(tmp_path, "rlenv-core")
    install(tmp_path, "Rlenv_Plugin.Math")
    install(tmp_path, "somebody-s-plugin", entries=ENTRY)
    install(tmp_path, "rlenvironments")
    install(tmp_path, "unrelated")

    assert found(tmp_path).keys() == {"rlenv-core", "rlenv-plugin-math", "somebody-s-plugin"}
    assert {each.warning for each in found(tmp_path).values()} == {""}


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (None, "a package index"),
        (
            {"url": "file:///a/clone/core", "dir_info": {"editable": True}},
            "/a/clone/core (editable)",
        ),
        ({"url": "file:///a%20b/x.whl", "archive_info": {}}, "/a b/x.whl"),
        ({"url": "https://host/x.whl", "archive_info": {}}, "https://host/x.whl"),
        ("not JSON", "an unknown place"),
        ("[1]", "a package index"),
        ({"dir_info": [1]}, ""),
    ],
)
def test_the_source_is_what_pip_recorded(url, said, tmp_path):
    install(tmp_path, "rlenv-core", url=url)

    assert said in found(tmp_path)["rlenv-core"].source


@pytest.mark.parametrize("name", ["rlenv", "RLenv", "rlenv_audit", "rlenv-audit"])
def test_another_project_of_such_a_name_has_a_warning(name, tmp_path):
    install(tmp_path, name)

    (origin,) = found(tmp_path).values()
    assert "another project" in origin.warning


def test_the_doctor_fails_where_another_project_has_the_name(world):
    install(world.plugins, "rlenv", "9.9")
    code, out, _ = world.run("doctor")

    assert code == 1
    (line,) = [line for line in out.splitlines() if "rlenv 9.9" in line]
    assert line.startswith("FAILED")
    assert "another project" in line
    assert "`pip uninstall rlenv" in line


def test_a_package_that_is_not_core_s_own_is_named(tmp_path):
    class Recorded:
        files = (Path("rlenv/__init__.py"), Path("rlenv/compose/stages.py"))

        def locate_file(self, path):
            return tmp_path / path

    class Editable(Recorded):
        files = (Path("rlenv_core.pth"),)

    assert shadowed(str(tmp_path / "rlenv/__init__.py"), Recorded()) == ""
    assert shadowed("/elsewhere/rlenv/__init__.py", Recorded()) == "/elsewhere/rlenv/__init__.py"
    assert shadowed("/elsewhere/rlenv/__init__.py", Editable()) == ""
