"""Every file of a package counts, and every file that a function declares to read."""

import importlib
import os
import sys

import pytest
from rlenv import ConfigError, Environment, Task
from rlenv.identity.content import content_of
from rlenv.identity.reads import hashes_of_reads

TASK = Task("say something", id="t")


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "fingerprint_pkg"
    (folder / "data" / "deep").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    sys.modules.pop("fingerprint_pkg", None)


@pytest.mark.parametrize(
    "name", ["a.txt", "a.csv", "a.so", "a.json", "a.py", "a", ".hidden", "data/deep/a.bin"]
)
def test_every_file_of_a_package_counts(package, name):
    (package / name).write_text("one")
    importlib.import_module("fingerprint_pkg")
    before = content_of("fingerprint_pkg")
    assert content_of("fingerprint_pkg") == before
    (package / name).write_text("another")
    edited = content_of("fingerprint_pkg")
    (package / name).rename(package / "data" / "moved")
    assert len({before, edited, content_of("fingerprint_pkg")}) == 3


@pytest.mark.parametrize(
    "name", ["__pycache__/a.py", "a.pyc", ".git/HEAD", "data/__pycache__/b.nbi"]
)
def test_what_interpreters_and_tools_write_does_not_count(package, name):
    importlib.import_module("fingerprint_pkg")
    before = content_of("fingerprint_pkg")
    (package / name).parent.mkdir(exist_ok=True)
    (package / name).write_text("one")
    assert content_of("fingerprint_pkg") == before


def test_a_file_is_read_once_while_it_stays_the_same(package, monkeypatch):
    (package / "a.txt").write_text("one")
    importlib.import_module("fingerprint_pkg")
    before = content_of("fingerprint_pkg")
    monkeypatch.setattr("rlenv.identity.content.open", None, raising=False)
    assert content_of("fingerprint_pkg") == before


def test_the_packages_of_objects_that_a_stage_holds_count(package):
    (package / "parts.py").write_text(
        "class Part:\n    def __init__(self):\n        self.limit = 3\n"
    )
    part = importlib.import_module("fingerprint_pkg.parts").Part()

    def closes(response):
        return len(response) < part.limit

    before = Environment("e", closes).fingerprint
    (package / "table.csv").write_text("1")
    assert Environment("e", closes).fingerprint != before
    sys.modules.pop("fingerprint_pkg.parts")


READER = """
import pathlib
from rlenv import stage

@stage(reads=({reads}))
def listed(response):
    return response in (pathlib.Path(__file__).parent / "table.csv").read_text().split(",")
"""


def load(folder, reads='"table.csv",'):
    (folder / "reward.py").write_text(READER.format(reads=reads))
    return Environment.from_dict(
        {"name": "e", "stage": [{"use": "./reward.py:listed"}]}, base_dir=folder
    )


def test_a_file_that_a_function_reads_counts(tmp_path):
    found = {}
    for table in ("a,b", "c"):
        (tmp_path / "table.csv").write_text(table)
        with load(tmp_path) as env:
            found[env.fingerprint] = env.verify(TASK, "c")
    assert [*found.values()] == [0.0, 1.0]


def test_a_file_that_changes_under_an_open_environment_leaves_responses_unscored(tmp_path):
    (tmp_path / "table.csv").write_text("a,b")
    with load(tmp_path) as env:
        assert env.verify(TASK, "a") == 1.0
        (tmp_path / "table.csv").write_text("something else")
        verdict = env.evaluate(TASK, "a")
    assert verdict.value is None
    assert "table.csv: a file has changed" in verdict.results[0].fault.message


@pytest.mark.parametrize(
    ("reads", "lack"),
    [
        ('"missing.csv",', "there is no such file"),
        ('"data",', "it is not a file"),
        ('"../outside.csv",', "in the folder of the file"),
        ('"/etc/passwd",', "in the folder of the file"),
        ('"",', "in the folder of the file"),
        ('"link.csv",', "leads out of the folder"),
        ('"table.csv"', "write reads = "),
    ],
)
def test_a_file_that_cannot_be_declared_is_a_mistake_at_load(tmp_path, reads, lack):
    folder = tmp_path / "inner"
    (folder / "data").mkdir(parents=True)
    (tmp_path / "outside.csv").write_text("1")
    os.symlink(tmp_path / "outside.csv", folder / "link.csv")
    with pytest.raises(ConfigError, match=lack):
        load(folder, reads)


def test_a_stage_of_a_module_declares_what_it_reads_too(tmp_path, monkeypatch):
    (tmp_path / "reads_module.py").write_text(
        "from rlenv import Outcome, stage\n"
        "@stage(reads=('table.csv',), where='inline')\n"
        "def listed(response): return 1.0\n"
        "@stage(reads=('table.csv',))\n"
        "class Listed:\n"
        "    def check(self, attempt): return Outcome(1.0)\n"
    )
    (tmp_path / "table.csv").write_text("1")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("reads_module")
    for made in (Environment("e", module.listed).slots[0].stage, module.Listed()):
        assert list(hashes_of_reads(made)) == ["table.csv"]
    (tmp_path / "table.csv").unlink()
    with pytest.raises(ConfigError, match=r'reads: "table\.csv": .*no such file'):
        Environment("e", module.Listed())
