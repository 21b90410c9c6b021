"""The table of languages."""

from __future__ import annotations

import shutil

import pytest
from rlenv.model.errors import ConfigError
from rlenv_plugin_code.languages import LANGUAGES, language, toolchain, tools


def test_no_label_means_two_languages() -> None:
    labels = [label for entry in LANGUAGES.values() for label in entry.labels]
    assert len(labels) == len(set(labels))
    assert all(label == label.lower() for label in labels)


def test_python_is_warm_and_needs_nothing() -> None:
    entry = language("python")
    assert (entry.warm, entry.native, entry.runtime, tools("python")) == (True, False, "python", "")
    assert toolchain("python") == "python"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc here")
def test_command_lines_name_their_tool_and_file() -> None:
    words = language("c").compile_argv()
    assert words is not None
    assert words[0] == shutil.which("gcc")
    assert {"program.c", "program"} <= set(words)
    assert language("c").run_argv() == ["./program"]
    assert shutil.which("gcc") or "" in toolchain("c")


def test_an_unknown_language_and_a_missing_tool_say_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ConfigError, match="the languages are: c, cpp, javascript, python, shell"):
        language("cobol")
    monkeypatch.setenv("PATH", "/nowhere")
    for name in ("c", "cpp", "javascript", "shell"):
        with pytest.raises(ConfigError, match="install it"):
            tools(name)
