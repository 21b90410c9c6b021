"""``rlenv show``: tasks, verifier, configuration, and each claimed table as it prints itself."""

TABLES = """
from attrs import frozen

@frozen
class Harness:
    kind: str
    turn_limit: int = 8

@frozen
class State:
    steps: int

    def show(self):
        return f"{self.steps} steps\\nof state"
"""
ENV = """
name = "capitals"
pass_mark = 0.5
[lab]
kind = "chat"
[shelf]
steps = 3
[[stage]]
use = "core/any"
name = "either"
[[stage.stage]]
use = "core/equal"
options = { case = true }
[[task]]
id = "t1"
prompt = "Capital of France?"
answer = "Paris"
split = "test"
"""


def test_the_parts_of_an_environment_are_shown(world):
    world.write_plugin("t1", TABLES, group="rlenv.tables", name="lab", target="t1_module:Harness")
    world.write_plugin("t2", TABLES, group="rlenv.tables", name="shelf", target="t2_module:State")
    (world.folder / "shown.toml").write_text(ENV)
    code, out, err = world.run("show", "shown.toml")

    assert code == 0, err
    for part in (
        "capitals\n",
        "T  1 task (test 1); the first is t1",
        "V  Pipeline",
        "   either: core/any  weight 1",
        "      equal: core/equal  weight 1, case = True",
        "C  pass_mark 0.5, thinking hide",
        "[lab]\n   kind = 'chat'\n   turn_limit = 8",
        "[shelf]\n3 steps\nof state",
    ):
        assert part in out


def test_mistakes_are_told_with_exit_status_2(world):
    text = 'name = "x"\n[harnes]\n[[stage]]\nuse = "core/equal"\n'
    (world.folder / "shown.toml").write_text(text)
    code, _, err = world.run("show", "shown.toml")

    assert code == 2
    assert 'did you mean "harness"?' in err
