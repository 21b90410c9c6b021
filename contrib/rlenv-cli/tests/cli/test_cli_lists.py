"""``rlenv plugins``, ``stages``, ``envs``, ``doctor`` and what ``rlenv`` itself finds."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from rlenv.plugins.registry import entries as metadata_entries
from rlenv_cli import app
from rlenv_cli.app import DISTRIBUTION, GROUP, OWN

BROKEN = "import a_module_that_is_not_there\n"
NEWER = "RLENV_API = 99\n"
COMMAND = """
import click

@click.command()
@click.option("--loud", is_flag=True)
def command(loud):
    "Say hello."
    print("HELLO" if loud else "hello")
"""


def test_without_arguments_help_and_an_example_are_shown(rlenv):
    result = rlenv()
    assert result.exit_code == 0
    assert "rlenv score env.toml responses.jsonl -o scores.jsonl" in result.output
    for name in ("score", "verify", "plugins", "stages", "envs", "doctor"):
        assert f"  {name} " in result.output


@pytest.mark.parametrize("name", ["score", "verify", "plugins", "stages", "envs", "doctor"])
def test_every_command_explains_itself(rlenv, name):
    result = rlenv(name, "--help")
    assert result.exit_code == 0
    assert "Usage: " in result.output


def test_no_two_commands_have_the_same_line_of_help():
    lines = [app._said(name, claims) for name, claims in app._found().items()]

    assert {
        "(from rlenv-train) Write training data from a score file",
        "(from rlenv-train) Select the best response to each task",
    } <= {*lines}
    assert len({*lines}) == len(lines)


def test_a_command_of_a_stranger_is_not_told_as_that_of_the_repository():
    theirs = app._found()["audit"]

    assert "training data" not in app._said("export", theirs)


def test_a_misspelt_command_gets_a_hint(rlenv):
    result = rlenv("scroe")
    assert result.exit_code == 2
    assert 'did you mean "score"?' in result.output


def test_plugins_are_listed_and_broken_ones_set_apart(world):
    world.plugin()
    world.write_plugin("broken", BROKEN)
    world.write_plugin("newer", NEWER)
    world.write_plugin("twice", NEWER)
    world.write_plugin("other", None, name="twice", target="x")
    code, out, err = world.run("plugins")
    assert code == 0, err
    lines = {line.split()[0]: line for line in out.splitlines() if line.split()}
    assert "ok (hooks 1)" in lines["core"]
    assert "ok (hooks 1)" in lines["demo"]
    assert "quarantined" in out
    assert "newer API" in out
    assert "doubled" in out
    assert "No module named 'a_module_that_is_not_there'" in out
    assert "Traceback" not in out
    code, out, _ = world.run("plugins", "-v")
    assert code == 0
    assert "Traceback" in out


def test_a_broken_plugin_does_not_stop_others_from_scoring(world):
    world.plugin()
    world.write_plugin("broken", BROKEN)
    path = world.write_rows([{"task": "t0", "response": "Paris"}])
    assert world.run("score", "env.toml", path, "-o", "o.jsonl")[0] == 0
    env = world.write_env('[[stage]]\nuse = "broken/x"\n', "other.toml")
    code, _, err = world.run("score", env, path, "-o", "p.jsonl")
    assert code == 2
    assert "broken" in err
    assert "a_module_that_is_not_there" in err


def test_stages_are_listed_with_what_they_do(rlenv, demo):
    out = rlenv("stages").output
    for part in ("core/equal", "core/pipeline", "composite", "demo/slow", "Takes its time."):
        assert part in out


@pytest.mark.parametrize("words", [(), ("core/equal",), ("math/equal",)])
def test_stages_fit_eighty_columns_and_nothing_is_cut(words, rlenv, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line.rstrip() for line in rlenv("stages", *words).output.splitlines()]
    told = [line for line in lines if line.startswith("  ")]  # prose of a docstring keeps its lines

    assert told
    assert max(map(len, told)) <= 80
    assert [line for line in told if "…" in line] == []


def test_the_stages_of_one_plugin(rlenv, demo):
    out = rlenv("stages", "demo").output
    assert "demo/slow" in out
    assert "core/equal" not in out


def test_one_stage_is_described_with_its_options(rlenv, demo):
    out = rlenv("stages", "core/equal").output
    for part in (
        "phase       diff",
        "where       inline",
        "task.answer",
        "case",
        "bool",
        "false",
        "full-width",
    ):
        assert part in out
    out = rlenv("stages", "demo/slow").output
    for part in ("seconds", "float", "0.02", "how long."):
        assert part in out
    out = rlenv("stages", "demo/sleepy").output
    assert "30 s by default" in out
    assert "side by side only" in rlenv("stages", "demo/ranked").output
    assert "k" in rlenv("stages", "core/quorum").output


@pytest.mark.parametrize(
    ("name", "said"), [("core/eqal", "equal"), ("nothing", "nothing"), ("nothing/x", "nothing")]
)
def test_a_stage_that_is_not_there_gets_a_hint(rlenv, name, said):
    result = rlenv("stages", name)
    assert result.exit_code == 2
    assert said in result.output


def test_a_plugin_that_does_not_load_is_left_out_of_the_stages(world):
    world.write_plugin("broken", BROKEN)
    code, out, _ = world.run("stages")
    assert code == 0
    assert "core/equal" in out
    assert "left out: " in out
    assert "broken" in out


def test_installed_environments_are_listed_and_scored_by_name(world):
    text = f"ENV = {world.path('env.toml')!r}\n"
    world.write_plugin("caps", text, group="rlenv.environments", target="caps_module:ENV")
    code, out, err = world.run("envs")
    assert code == 0, err
    assert "caps" in out
    path = world.write_rows([{"task": "t0", "response": "Paris"}])
    code, _, err = world.run("score", "caps", path, "-o", "o.jsonl", "--isolate")
    assert code == 0, err


def test_without_installed_environments_that_is_said(rlenv):
    assert "no environment is installed" in rlenv("envs").output


def test_other_distributions_add_commands_and_broken_ones_harm_nobody(world):
    group = "rlenv.commands"
    world.write_plugin("hello", COMMAND, group=group, target="hello_module:command")
    world.write_plugin("brk", BROKEN, group=group, target="brk_module:command")
    world.write_plugin("exits", "import sys; sys.exit(7)\n", group=group, target="exits_module:x")
    world.write_plugin("nocmd", "x = 1\n", group=group, target="nocmd_module:x")
    world.write_plugin("score", COMMAND, group=group, target="score_module:command")
    code, out, err = world.run("--help")
    assert code == 0, err
    for name in ("hello", "brk", "exits", "nocmd"):
        assert any(line.split()[:2] == [name, "(from"] for line in out.splitlines())
    assert "Say hello." in world.run("hello", "--help")[1]
    assert world.run("hello", "--loud") == (0, "HELLO\n", "")
    for name in ("brk", "exits", "nocmd"):
        code, _, err = world.run(name, "--any", "thing")
        assert code == 2
        assert err.startswith(f"rlenv: error: rlenv {name}: rlenv-plugin-{name} 1.0")
    code, _, err = world.run("score")
    assert "RESPONSES" in err or "ENV" in err


def test_a_command_that_two_bring_is_used_by_neither(world):
    group = "rlenv.commands"
    world.write_plugin("hello", COMMAND, group=group, target="hello_module:command")
    world.write_plugin("hi", COMMAND, group=group, name="hello", target="hi_module:command")
    code, _, err = world.run("hello")
    assert code == 2
    assert "rlenv-plugin-hello 1.0 and rlenv-plugin-hi 1.0 both provide it" in err


def test_every_command_of_this_distribution_has_a_line_of_help():
    own = {entry.name for entry in entry_points(group=GROUP) if entry.dist.name == DISTRIBUTION}

    assert own == set(OWN)


def test_only_the_command_that_is_called_is_imported(world):
    code = (
        "import sys; from rlenv.__main__ import main\nsys.argv[1:] = {words}\ntry: main()\nexcept"
        " SystemExit: pass\nprint([m for m in sys.modules if m.startswith(('rlenv_cli.commands.',"
        " 'rlenv_auditor', 'rlenv_testing', 'rlenv_plugin'))])"
    )
    for words, wanted in ((["--help"], []), (["envs", "--help"], ["rlenv_cli.commands.envs"])):
        ran = subprocess.run(
            [sys.executable, "-c", code.format(words=words)],
            env=world.environ(),
            capture_output=True,
            text=True,
            check=True,
        )
        assert ran.stdout.splitlines()[-1] == str(wanted)


@pytest.mark.parametrize(
    ("words", "distribution", "folder"),
    [
        (["check", "math"], "rlenv-testing", "contrib"),
        (["audit", "x.toml"], "rlenv-auditor", "contrib"),
        (["judge", "calibrate", "env.toml", "x"], "rlenv-plugin-judge", "plugins"),
        (["sandbox", "--listen", "localhost:0"], "rlenv-plugin-sandbox", "plugins"),
    ],
)
def test_what_is_not_installed_is_named_with_the_remedy(
    rlenv, world, monkeypatch, words, distribution, folder
):
    found = metadata_entries(GROUP)
    kept = [entry for entry in found if entry.distribution != distribution]
    monkeypatch.setattr("rlenv_cli.app.entries", lambda group: kept)
    monkeypatch.setattr("rlenv_cli.needed.find_spec", lambda name: None)
    result = rlenv(*words)

    assert result.exit_code == 2
    assert (
        f"{distribution} is not installed: `pip install ./{folder}/{distribution}`" in result.output
    )
    assert (Path(__file__).parents[4] / folder / distribution / "pyproject.toml").is_file()


def test_the_help_of_the_sandbox_is_that_of_its_plugin(world):
    code, out, _ = world.run("sandbox", "--help")

    assert code == 0
    assert "usage: rlenv sandbox" in out
    assert "--tls-cert" in out


def test_the_doctor_starts_a_worker_and_kills_a_stage(world):
    code, out, err = world.run("doctor")
    assert code == 0, out + err
    lines = {line[7:25].strip(): line for line in out.splitlines()}
    for name in ("python", "system", "secret", "cores", "workers", "deadlines", "memory limit"):
        assert lines[name].startswith("ok"), out
    assert "RLENV_SECRET" in lines["secret"]
    assert "a secret of the tests" not in out


SANDBOXES = """
from rlenv import hookimpl
from rlenv.sandbox import Diagnosis

RLENV_API = 1

class Good:
    def diagnose(self):
        return [Diagnosis("tier", "jail"), Diagnosis("limits", "missing; run as root", ok=False)]

class Picky:
    def __init__(self, url): pass

class Bad:
    def diagnose(self):
        raise RuntimeError("no\\x1b luck")

@hookimpl
def rlenv_parts():
    return {"sandbox": {"good": Good, "picky": Picky, "bad": Bad, "gone": "no.such.module:Box"}}
"""


def test_the_doctor_asks_every_sandbox_and_survives_broken_ones(world):
    world.write_plugin("boxes", SANDBOXES)
    code, out, err = world.run("doctor", "boxes")
    assert code == 0, out + err
    lines = [line for line in out.splitlines() if "boxes/" in line]
    assert len(lines) == 5, out
    assert lines[0].split(None, 2) == ["ok", "boxes/good", "tier: jail"]
    assert lines[1].split(None, 2) == ["-", "boxes/good", "limits: missing; run as root"]
    for line, name in zip(lines[2:], ("picky", "bad", "gone"), strict=True):
        assert line.split()[:2] == ["-", f"boxes/{name}"]
    assert "luck" in lines[3]
    assert "\x1b" not in out


def test_the_doctor_says_when_there_can_be_no_secret(world):
    (world.folder / "file").write_text("")
    environ = {"RLENV_SECRET": "", "XDG_STATE_HOME": world.path("file")}
    code, out, _ = world.run("doctor", environ=environ)
    assert code == 1
    assert "FAILED secret" in out
    assert "RLENV_SECRET" in out
    assert "Traceback" not in out


def test_the_cpu_quota_of_a_container_is_read_in_both_forms(tmp_path):
    from rlenv_cli.machine.checks import cpu_quota

    assert cpu_quota(tmp_path) is None
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    assert cpu_quota(tmp_path) == 1.5
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert cpu_quota(tmp_path) is None
    (tmp_path / "cpu.max").unlink()
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu/cpu.cfs_quota_us").write_text("50000\n")
    (tmp_path / "cpu/cpu.cfs_period_us").write_text("100000\n")
    assert cpu_quota(tmp_path) == 0.5
