"""An option that is a function names code, by the rules of ``use = "module:name"``."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import SimpleNamespace

import attrs
import pytest
from attrs import field, frozen
from rlenv import ConfigError, Environment, Outcome, Task, hookimpl
from rlenv.plugins.registry import registry


@frozen(slots=False)
class Calls:
    """A stage that calls what it is given."""

    function: Callable[..., float]
    other: Callable[..., float] | None = None
    any: Callable = len  # type: ignore[type-arg]
    program: str = field(default="", metadata={"code": True})

    def check(self, attempt):
        return Outcome(float(self.function(attempt.response)))


@pytest.fixture(autouse=True)
def plugin():
    @hookimpl
    def rlenv_stages():
        return {"calls": Calls}

    registry().register(SimpleNamespace(rlenv_stages=rlenv_stages), "calling")
    yield
    registry().unregister("calling")


@pytest.fixture
def load(tmp_path):
    source = f"import os\nassert os.getpid() != {os.getpid()}\ndef half(text): return 0.5\n"
    source += "def told(text): return float('SOME_TOKEN' in os.environ)\n"
    (tmp_path / "reward.py").write_text(source)

    def made(code=True, **options):
        stage = {"use": "calling/calls", "options": options}
        return Environment.from_dict({"name": "x", "stage": [stage]}, base_dir=tmp_path, code=code)

    return made


def test_a_function_of_a_file_is_called_in_a_worker(load):
    with load(function="./reward.py:half") as env:
        assert env.verify(Task("prompt"), "text") == 0.5


def test_a_function_of_a_file_sees_no_secret_that_its_stage_does_not_declare(load, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "secret")
    with load(function="./reward.py:told") as env:
        assert env.verify(Task("prompt"), "text") == 0.0
    monkeypatch.setattr(Calls, "env", ("SOME_TOKEN",), raising=False)
    with load(function="./reward.py:told") as env:
        assert env.verify(Task("prompt"), "text") == 1.0


def test_a_function_of_a_module_is_imported(load):
    with load(function="attrs:has") as env:
        assert env.verify(Task("prompt"), "text") == 0.0


def test_an_annotation_need_not_name_parameters(load):
    with load(function="attrs:has", any="attrs:has") as env:
        assert env.slots[0].stage.any is attrs.has


@pytest.mark.parametrize("key", ["function", "other", "any"])
@pytest.mark.parametrize("use", ["./reward.py:half", "attrs:has"])
def test_an_env_toml_from_a_stranger_names_no_function(load, key, use):
    with pytest.raises(ConfigError, match=rf"options\.{key}: "):
        load(code=False, **{"function": "./reward.py:half", key: use})


def test_an_option_that_runs_a_program_is_as_good_as_code(load):
    load(function="attrs:has", program="sh").close()
    with pytest.raises(ConfigError, match=r"options\.program: code=False"):
        load(code=False, function="attrs:has", program="sh")
    with pytest.raises(ConfigError) as error:
        load(code=False, function="attrs:has", program="")
    assert "program" not in str(error.value)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ("os:system", "a module of the standard library"),
        ("./../reward.py:half", "in the folder of the env.toml"),
        ("/reward.py:half", "in the folder of the env.toml"),
        ("./reward.py:haff", 'did you mean "half"'),
        ("./reward.py", "name a function"),
        ("half", "write package.module:name or ./file.py:name"),
        ("rlenv:__version__", "expected a function"),
        ("rlenv.plugins.registry:os", "expected a function"),
        (3, "expected a function, as package.module:name or ./file.py:name, got 3"),
    ],
)
def test_what_may_be_named_is_as_for_use(load, use, message):
    with pytest.raises(ConfigError, match=message):
        load(function=use)
    if ":" in str(use):  # else it may be meant for another type of the union
        with pytest.raises(ConfigError, match=message):
            load(function="./reward.py:half", other=use)
