"""What an environment of core's own stage imports: nothing that waits for others."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from rlenv import authoring

HEAVY = {
    "asyncio", "cattrs", "click", "difflib", "email", "hypothesis", "importlib.metadata", "pyarrow",
    "pytest", "rich", "sympy", "tempfile",
}  # fmt: skip
METADATA = {"email", "importlib.metadata", "tempfile"}  # what reading metadata takes


def loaded(code: str) -> set[str]:
    tail = "\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", code + tail], capture_output=True, text=True, check=True
    )
    return set(json.loads(ran.stdout))


@pytest.mark.parametrize(
    "code", ["import rlenv", "import rlenv.config.load, rlenv.model.tasks, rlenv.plugins.registry"]
)
def test_nothing_heavy_is_imported(code: str) -> None:
    assert loaded(code) & HEAVY == set()


READERS = {"csv", "gzip", "hashlib", "hmac", "zlib"}
READERS |= {
    f"rlenv.{name}"
    for name in ("config.fit", "plugins.registry", "model.record", "config.rows", "identity.secret")
}


def test_what_a_plugin_imports_of_authoring_brings_nothing_else() -> None:
    assert loaded("from rlenv.authoring import FAULT_KINDS, suggest") & READERS == set()
    assert loaded("from rlenv.authoring import File") & READERS == set()


def test_authoring_has_every_name_that_it_promises() -> None:
    assert all(hasattr(authoring, name) for name in authoring.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'bild'"):
        authoring.bild  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    "code",
    [
        "from rlenv.plugins.registry import installed; installed()",
        """
from rlenv import Environment
env = Environment.from_dict({
    "name": "n",
    "stage": [{"use": "core/equal", "options": {"aliases": {"a": ["b"]}}}],
    "task": [{"prompt": "p", "answer": "4"}],
})
assert env.verify("p", "4") == 1.0
""",
    ],
)
def test_an_environment_takes_no_more_than_the_metadata_of_what_is_installed(code: str) -> None:
    assert loaded(code) & HEAVY <= METADATA


def test_pluggy_waits_until_a_plugin_is_loaded() -> None:
    assert "pluggy" not in loaded(
        "import rlenv; from rlenv.plugins.registry import installed; installed()"
    )
