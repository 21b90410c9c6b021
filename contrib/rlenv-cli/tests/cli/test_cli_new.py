"""``rlenv new``: what it writes, and what it refuses."""

import ast
import json
import re
import sys
import tomllib

import pytest
from click.testing import CliRunner
from rlenv import Environment
from rlenv_cli.app import cli
from rlenv_cli.scaffold import FILES


def new(*args):
    return CliRunner().invoke(cli, ["new", *map(str, args)])


@pytest.mark.parametrize("kind", list(FILES))
def test_every_file_is_made_and_no_placeholder_is_left(kind, tmp_path):
    done = new(kind, "my-thing", "--into", tmp_path, "--author", "Ada")

    folder = tmp_path / f"rlenv-{kind}-my-thing"
    made = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
    module = f"rlenv_{kind}_my_thing"
    wanted = [path.replace("{{module}}", module) for path in FILES[kind]]
    assert done.exit_code == 0, done.output
    assert made == sorted([*wanted, "LICENSE"])
    for path in made:
        text = (folder / path).read_text("utf-8")
        assert "{{" not in text.replace("${{ matrix.python }}", "")
        if path.endswith(".py"):
            ast.parse(text)
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == f"rlenv-{kind}-my-thing"
    assert "Ada" in (folder / "LICENSE").read_text("utf-8")


def test_the_distribution_name_is_as_good_as_the_short_one(tmp_path):
    assert new("plugin", "rlenv-plugin-foo", "--into", tmp_path).exit_code == 0
    assert (tmp_path / "rlenv-plugin-foo").is_dir()


def test_the_environment_loads_where_it_was_made(tmp_path):
    new("env", "capitals", "--into", tmp_path)
    env = Environment.from_file(tmp_path / "rlenv-env-capitals/src/rlenv_env_capitals/env.toml")

    assert [env.verify(task, task.answer.upper()) for task in env.tasks] == [1.0, 1.0, 1.0]
    assert env.verify("What is the capital of Kenya? Answer with one word.", "Paris") == 0.0


@pytest.mark.parametrize("terms", ["mit", "apache-2.0", "none"])
def test_the_license_is_a_choice(terms, tmp_path):
    new("plugin", "foo", "--into", tmp_path, "--license", terms)
    project = tomllib.loads((tmp_path / "rlenv-plugin-foo/pyproject.toml").read_text("utf-8"))

    assert project["project"].get("license") == {"mit": "MIT", "apache-2.0": "Apache-2.0"}.get(
        terms
    )
    assert (tmp_path / "rlenv-plugin-foo/LICENSE").exists() == (terms != "none")


@pytest.mark.parametrize("name", ["Foo", "a b", "", "-a", "a--b", "core", "../x", "1a", "a/b", "ä"])
def test_a_name_that_pip_could_not_install_is_refused(name, tmp_path):
    done = new("plugin", "--into", tmp_path, "--", name)

    assert done.exit_code == 2
    assert "lower-case letters" in done.output
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path):
    new("plugin", "foo", "--into", tmp_path)
    stages = tmp_path / "rlenv-plugin-foo/src/rlenv_plugin_foo/stages.py"
    stages.write_text("mine")
    again = new("plugin", "foo", "--into", tmp_path)

    assert again.exit_code == 2
    assert "exists already" in again.output
    assert stages.read_text() == "mine"


def test_the_tasks_of_the_environment_are_json_lines(tmp_path):
    new("env", "foo", "--into", tmp_path)
    lines = (tmp_path / "rlenv-env-foo/src/rlenv_env_foo/tasks.jsonl").read_text().splitlines()

    assert {json.loads(line)["split"] for line in lines} == {"train", "test"}


@pytest.mark.parametrize("name", ["math", "rlenv-plugin-judge", "agent"])
def test_a_name_of_a_plugin_of_rlenv_is_taken(name, tmp_path):
    done = new("plugin", name, "--into", tmp_path)

    assert done.exit_code == 2
    assert "is taken by rlenv-plugin-" in done.output
    assert "choose another" in done.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("kind", "group"), [("plugin", "rlenv"), ("env", "rlenv.environments")])
def test_a_name_that_an_installed_distribution_claims_is_taken(world, kind, group):
    world.write_plugin("mine", "", group=group)
    code, out, err = world.run("new", kind, "mine")

    assert (code, out) == (2, "")
    assert "'mine' is taken by rlenv-plugin-mine 1.0, which is installed" in err
    assert world.run("new", "env" if kind == "plugin" else "plugin", "mine")[0] == 0


def test_the_plugin_declares_what_it_imports(tmp_path):
    new("plugin", "foo", "--into", tmp_path)
    folder = tmp_path / "rlenv-plugin-foo"
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {re.match(r"[\w-]+", each)[0] for each in project["dependencies"]}
    imported = set()
    for path in (folder / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Import):
                imported.update(alias.name.partition(".")[0] for alias in node.names)

    assert imported - sys.stdlib_module_names == {*declared - {"rlenv-core"}, "rlenv"}
