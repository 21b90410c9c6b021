"""No name or text of an env.toml, and none of a response, reaches a terminal as a control
character.
"""

import json

import pytest

EVIL = "[/red]x\x1b[31m\x9b\x07\u202e\U000e0041"
NAMED = json.dumps(EVIL.replace("/", "")).replace("\\udb40\\udc41", "\\U000E0041")
TEXT = json.dumps(EVIL).replace("\\udb40\\udc41", "\\U000E0041")


@pytest.fixture
def evil(world, rlenv):
    """An environment whose names are hostile, and what a command prints of it."""

    def run(stage, *args):
        (world.folder / "env.toml").write_text(
            f"name = {TEXT}\ndescription = {TEXT}\n"
            f'[[stage]]\nuse = "core/equal"\nname = {NAMED}\n{stage}\n'
            f'[[stage]]\nuse = "core/equal"\npenalty = 0.5\nname = {NAMED[:-1]}2"\n'
            f"[[task]]\nid = {TEXT}\nprompt = {TEXT}\nanswer = {TEXT}\n"
        )
        world.write_rows([{"task": EVIL, "response": EVIL}, {"task": EVIL, "response": "a" + EVIL}])
        return rlenv(*args)

    return run


@pytest.mark.parametrize("stage", ["", "gate = 1", "bonus = 0.5\nweight = 1"])
@pytest.mark.parametrize(
    "args",
    [
        ("show", "env.toml"),
        ("verify", "env.toml", "--task", EVIL, "--text", EVIL),
        ("verify", "env.toml", "--task", EVIL, "--text", "a" + EVIL),
        ("verify", "env.toml", "--task", "none" + EVIL, "--text", "a"),
        ("verify", "env.toml", "--set", f"{EVIL}.case=false", "--text", "a"),
        ("score", "env.toml", "r.jsonl", "-o", "o.jsonl", "--overwrite"),
    ],
)
def test_nothing_that_a_terminal_obeys_is_printed(evil, stage, args):
    result = evil(stage, *args)

    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    hidden = [each for each in result.output if not each.isprintable() and each != "\n"]
    assert not hidden, result.output
