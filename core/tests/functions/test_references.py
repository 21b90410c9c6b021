"""`use = "module:name"` and `use = "./file.py:name"` in an env.toml."""

import os
import textwrap

import pytest
from rlenv import ConfigError, Environment, Task
from rlenv.workers import pool

TASK = Task("p", answer="42")
FILE = """
    import rlenv

    @rlenv.stage(phase="constrain", uses=("answer",))
    def score(response: "str", answer, *, scale: float = 1.0) -> float:
        return scale * (response.strip() == answer)

    async def later(completion):
        return 0.5

    short = lambda response: len(response) < 5

    class Stage:
        def check(self, attempt): ...

    def home(response):
        import os, sys
        return {"score": 1.0, "pid": os.getpid(), "path": sys.path}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "reward.py").write_text(textwrap.dedent(FILE))
    return tmp_path


def load(folder, *uses, code=True, **table):
    config = {"name": "x", "stage": [{"use": use, **table} for use in uses]}
    return Environment.from_dict(config, base_dir=folder, code=code)


def test_functions_of_a_file_verify(folder):
    with load(folder, "./reward.py:score", "./reward.py:later", "./reward.py:short") as env:
        verdict = env.evaluate(TASK, " 42")
        assert [(r.stage, r.outcome.score) for r in verdict.results] == [
            ("score", 1.0), ("later", 0.5), ("short", 1.0),
        ]  # fmt: skip
        assert env.slots[0].kind == "./reward.py:score"


def test_options_are_values_of_its_other_parameters(folder):
    with load(folder, "./reward.py:score", options={"scale": 0.5}) as env:
        assert env.verify(TASK, "42") == 0.5
    with pytest.raises(ConfigError, match='no parameter "scal", which options set'):
        load(folder, "./reward.py:score", options={"scal": 0.5})


def test_a_file_is_imported_in_a_worker_and_its_folder_is_not_on_the_path(folder, monkeypatch):
    import os

    monkeypatch.chdir(folder)
    with load(folder, "./reward.py:home") as env:
        seen = env.evaluate(TASK, "x").results[0].outcome.private
    assert seen["pid"] != os.getpid()
    assert [path.name for path in folder.iterdir()] == ["reward.py"]  # no bytecode
    assert str(folder) not in seen["path"]


def test_a_file_in_a_toml_is_relative_to_it(folder, monkeypatch, tmp_path_factory):
    (folder / "env.toml").write_text('name = "x"\n[[stage]]\nuse = "./reward.py:short"\n')
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    with Environment.from_file(folder / "env.toml") as env:
        assert env.verify(TASK, "42") == 1.0


def test_the_content_of_the_file_is_in_the_fingerprint(folder):
    with load(folder, "./reward.py:score") as env:
        before = env.fingerprint
    (folder / "reward.py").write_text(textwrap.dedent(FILE) + "\n# edited\n")
    with load(folder, "./reward.py:score") as env:
        assert env.fingerprint != before


def test_bytecode_next_to_a_file_is_not_run(folder):
    import compileall
    import os

    stamp = (folder / "reward.py").stat()
    (folder / "reward.py").write_text("short = lambda response: 0.0\n".ljust(stamp.st_size))
    os.utime(folder / "reward.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    compileall.compile_file(folder / "reward.py", quiet=2)
    (folder / "reward.py").write_text("short = lambda response: 1.0\n".ljust(stamp.st_size))
    os.utime(folder / "reward.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    with load(folder, "./reward.py:short") as env:
        assert env.verify(TASK, "x") == 1.0


def test_a_file_that_changes_under_an_environment_leaves_responses_unscored(folder):
    with load(folder, "./reward.py:short") as env:
        assert env.verify(TASK, "1") == 1.0
    env = load(folder, "./reward.py:short")
    env.close()
    (folder / "reward.py").write_text("short = lambda response: 1.0\n")
    with env:
        fault = env.evaluate(TASK, "long response").fault
    assert fault is None or "has changed" in fault.message


@pytest.mark.parametrize(
    ("use", "says"),
    [
        ("./reward.py:Stage", "Stage is a class; name a function"),
        ("./reward.py:nope", 'defines no function "nope" at its top level'),
        ("./reward.py:scor", 'did you mean "score"'),
        ("./reward.py:a.b", "is one name"),
        ("./rewards.py:score", "there is no such file; did you mean"),
        ("reward.py:score", "a file is written ./file.py:name"),
        ("../reward.py:score", "a file is written ./file.py:name"),
        ("./sub/../reward.py:score", "a file is written ./file.py:name"),
        ("/reward.py:score", "a file is written ./file.py:name"),
        ("./linked.py:score", "leads out of the folder"),
        ("./syntax.py:f", "is not valid Python"),
        ("./broken.py:f", "No module named 'nosuch'"),
        ("./exits.py:f", "SystemExit"),
        ("./decorated.py:f", r"@stage\(needs=\(int,\)\): in a file that an env.toml names"),
        ("./typo.py:f", '@stage has no argument "were"'),
        ("os:system", "a module of the standard library"),
        ("os.path:join", "a module of the standard library"),
        ("builtins:eval", "a module of the standard library"),
        ("nosuch:f", "No module named 'nosuch'; modules are looked up on Python's own path"),
        ("reward:score", "name a file next to the env.toml, ./reward.py:score"),
        ("rlenv.compose.equal:Eqal", 'did you mean "Equal"'),
        ("rlenv:__version__", "is not a stage"),
        ("rlenv:nope:x", "one name"),
        ("./folder.py:f", "folder.py: it is not a file"),
        ("./pipe.py:f", "pipe.py: it is not a file"),
        ("./" + 300 * "a" + ".py:f", "there is no such file"),
        ("./\0.py:f", "there is no such file"),
        ("./twice.py:f", "duplicate argument"),
        ("./deep.py:f", "is not valid Python: it is nested too deep"),
        ("./renamed.py:f", "declared by other means than @stage"),
    ],
)
def test_what_cannot_be_referred_to_is_an_error_at_load(
    folder, tmp_path_factory, monkeypatch, use, says
):
    outside = tmp_path_factory.mktemp("outside") / "outside.py"
    outside.write_text("def score(response): return 1.0\n")
    (folder / "linked.py").symlink_to(outside)
    (folder / "syntax.py").write_text("def f(\n")
    (folder / "broken.py").write_text("import nosuch\ndef f(response): return 1.0\n")
    (folder / "exits.py").write_text("raise SystemExit(0)\ndef f(response): return 1.0\n")
    decorated = "import rlenv\n@rlenv.stage({})\ndef f(response): return 1.0\n"
    (folder / "decorated.py").write_text(decorated.format("needs=(int,)"))
    (folder / "typo.py").write_text(decorated.format("were='inline'"))
    (folder / "folder.py").mkdir()
    os.mkfifo(folder / "pipe.py")
    (folder / "twice.py").write_text("def f(response, response): return 1.0\n")
    (folder / "deep.py").write_text(f"x = {'-' * 200_000}1\ndef f(response): return 1.0\n")
    (folder / "renamed.py").write_text(
        "from rlenv import stage as declare\n@declare(may_abstain=True)\ndef f(response): ...\n"
    )
    monkeypatch.chdir(folder)
    with pytest.raises(ConfigError, match=says):
        load(folder, use)


def test_a_file_that_does_not_import_leaves_no_workers_behind(folder, monkeypatch):
    monkeypatch.setattr(pool, "_shared", {})  # no other environment has the workers
    before = set(pool._pools)
    (folder / "broken.py").write_text("import nosuch\ndef f(response): return 1.0\n")

    with pytest.raises(ConfigError, match="No module named 'nosuch'"):
        load(folder, "./reward.py:score", "./broken.py:f")

    (hired,) = set(pool._pools) - before
    assert hired.closed


def test_classes_functions_and_stages_of_a_module_verify(tmp_path, monkeypatch):
    (tmp_path / "some_rewards.py").write_text(
        "from rlenv.compose.equal import Equal\n"
        "def score(response, answer, scale=1.0): return scale * (response == answer)\n"
        "ready = Equal(case=True)\n"
        "def broken(nonsense): ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    table = {"options": {"case": True}}
    with load(tmp_path, "rlenv.compose.equal:Equal", **table) as env:
        assert env.verify(TASK, "42") == 1.0
    with load(tmp_path, "some_rewards:score", "some_rewards:ready") as env:
        assert env.verify(TASK, "42") == 1.0
    with load(tmp_path, "some_rewards:score", options={"scale": 0.5}) as env:
        assert env.verify(TASK, "42") == 0.5
    with pytest.raises(ConfigError, match="built already; it takes no options"):
        load(tmp_path, "some_rewards:ready", options={"case": True})
    with pytest.raises(ConfigError, match=r"stage\[0\].use: .*cannot supply nonsense"):
        load(tmp_path, "some_rewards:broken")
    with pytest.raises(ConfigError, match=r"options\.cas: unknown key"):
        load(tmp_path, "rlenv.compose.equal:Equal", options={"cas": True})


def test_a_class_that_a_reference_names_sees_no_secrets(tmp_path, monkeypatch):
    (tmp_path / "sees_secrets.py").write_text(
        "import os\n"
        "from rlenv import Outcome\n"
        "class Sees:\n"
        "    def check(self, attempt): return Outcome(float('SOME_TOKEN' in os.environ))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("SOME_TOKEN", "value")
    with load(tmp_path, "sees_secrets:Sees") as env:
        assert env.verify(TASK, "42") == 0.0


@pytest.mark.parametrize("use", ["./reward.py:score", "rlenv.compose.equal:Equal"])
def test_an_env_toml_from_a_stranger_names_no_code(folder, use):
    with pytest.raises(ConfigError, match="loaded with code=False"):
        load(folder, use, code=False)
    assert load(folder, "core/equal", code=False).name == "x"
