"""The modules and names of plugins that the sources of the commands name as texts."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import rlenv_cli

SOURCES = Path(rlenv_cli.__file__).parent
NAMED = re.compile(r'plugin\("(\w+)", "([\w.]+)"\)(?:\.(\w+))?')


def test_what_commands_ask_of_plugins_is_there() -> None:
    named = {
        found for path in SOURCES.rglob("*.py") for found in NAMED.findall(path.read_text("utf-8"))
    }
    missing = [
        f"rlenv_plugin_{plugin}.{module}.{name}"
        for plugin, module, name in sorted(named)
        if name and not hasattr(import_module(f"rlenv_plugin_{plugin}.{module}"), name)
    ]

    assert {plugin for plugin, _, _ in named} >= {"agent"}
    assert missing == []
