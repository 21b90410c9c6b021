"""A ``use`` that can name nothing imports nothing, and says how one is written."""

import json
import subprocess
import sys

import pytest

ODD = [
    "", " ", "/", "//", "///", "a/", "/a", "/equal", ":", "::", ":f", "a:", "./", ".", "..", "../",
    "./:f", "/:f", ".:f", "..:f", "a..b:f", ".a:f", "a.:f", "a b:f", "math /", "*", "*/*", "\\",
    "\\:f", "./x:f", "-", "é/", "\x00", "\x00:f", "%s", "~", "~/a.py:f", "a/b/", "./a.py",
    "./a.py:", "./.py:f", "__main__", "os", "os:path", "0", "0/0",
]  # fmt: skip
CODE = """
import json, sys
from rlenv import ConfigError, Environment, Task
from rlenv.plugins.registry import installed
Environment.from_dict({"name": "e", "stage": [{"use": "core/equal"}]}).close()
try:
    Environment.from_dict({"name": "e", "stage": [{"use": "no-such-plugin/stage"}]})
except ConfigError:
    pass
imported = []
def hook(event, args):
    if event == "import":
        imported.append(args[0])
modules = [info.target.partition(":")[0] for info in installed().values()]
plugins = {module.partition(".")[0] for module in modules} - {"rlenv"}
sys.addaudithook(hook)
for use in json.loads(sys.argv[1]):
    imported.clear()
    try:
        Environment.from_dict({"name": "e", "stage": [{"use": use}]}, base_dir=sys.argv[2])
        said = "loaded"
    except ConfigError as error:
        said = str(error)
    found = [name for name in imported if name.partition(".")[0] in plugins or use and name in use]
    print(json.dumps([said, found]))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(ODD), str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(ODD, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("use", [use for use in ODD if use not in ("__main__", "os", "-", "0")])
def test_what_can_name_nothing_imports_nothing(found, use):
    said, imported = found[use]
    assert imported == []
    assert said != "loaded"


@pytest.mark.parametrize("use", ODD)
def test_what_can_name_nothing_is_told_with_its_place_and_the_form(found, use):
    said, _ = found[use]
    assert said.startswith("stage[0].use: ")
    forms = (
        "a stage is plugin/short",
        "package.module:name",
        "./file.py:name",
        "no plugin '",
        "no such file",
        "it is not a file",
        "has no",
        "standard library",
    )
    assert any(form in said for form in forms), said
