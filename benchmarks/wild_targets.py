"""The public verifiers that are audited in the wild, and which interpreter has their packages."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache

from attrs import frozen

__all__ = ["PACKAGES", "Wild", "interpreters", "targets"]

# What finds a package, and how a person gets it.
PACKAGES: Mapping[str, str] = {
    "reasoning_gym": "pip install reasoning-gym",
    "math_verify": "pip install 'math-verify[antlr4_13_2]'",
    "verifiers": "pip install 'verifiers==0.1.14'",
    "skyrl_gym": "pip install skyrl-gym pandas",
}
NAMES = {
    "reasoning_gym": "reasoning-gym",
    "math_verify": "math-verify",
    "verifiers": "verifiers",
    "skyrl_gym": "skyrl-gym",
}
PROBE = """
import importlib.metadata as m, importlib.util as u, json, sys
print(json.dumps({n: m.version(d) for n, d in json.loads(sys.argv[1]).items() if u.find_spec(n)}))
"""
SETS = "import json, reasoning_gym.factory as f; print(json.dumps(sorted(f.DATASETS)))"


@frozen
class Wild:
    """One verifier of somebody else.

    Args:
        name: in the table.
        package: in which it is, as it is imported.
        kind: how it is replayed: "gym", "function" or "rubric".
        function: a data set of reasoning-gym, or a name in ``peers/wild_rewards.py``.
        tasks: a kind of ``wild_tasks``; "" where it brings its own.
        note: what is left out, or was changed; for the table.
        slow: how many times the seconds of the others it gets.
        most: tasks that are tried.
    """

    name: str
    package: str
    kind: str
    function: str
    tasks: str = ""
    archetype: str = ""
    note: str = ""
    slow: float = 1.0
    most: int = 40

    @property
    def target(self) -> str:
        return f"{'reasoning_gym' if self.kind == 'gym' else 'wild_rewards'}:{self.function}"

    @property
    def signature(self) -> str:
        if self.kind == "gym":
            return "reasoning-gym"
        return "verifiers" if self.package == "verifiers" else "plain"


UNIT = "its −1 counts as 0"
FUNCTIONS = (
    Wild(
        "math-verify: boxed, numbers",
        "math_verify",
        "function",
        "math_verify_boxed",
        "numbers",
        "math",
        "",
        3.0,
    ),
    Wild(
        "math-verify: boxed, everyday",
        "math_verify",
        "function",
        "math_verify_boxed",
        "expressions",
        "math",
        "",
        5.0,
        16,
    ),
    Wild(
        "math-verify: dollars, everyday",
        "math_verify",
        "function",
        "math_verify_dollars",
        "expressions",
        "math",
        "",
        5.0,
        16,
    ),
    Wild(
        "math-verify: metric, everyday",
        "math_verify",
        "function",
        "math_verify_metric",
        "expressions",
        "math",
        "",
        5.0,
        16,
    ),
    Wild(
        "verifiers: MathRubric, numbers",
        "verifiers",
        "rubric",
        "verifiers_math",
        "numbers",
        "math",
        "",
        3.0,
    ),
    Wild(
        "verifiers: MathRubric, everyday",
        "verifiers",
        "rubric",
        "verifiers_math",
        "expressions",
        "math",
        "",
        5.0,
        16,
    ),
    Wild(
        "verifiers: XMLParser, answer and form",
        "verifiers",
        "rubric",
        "verifiers_xml",
        "numbers",
        "",
        "the sum goes to 1.2",
        3.0,
    ),
    Wild("skyrl-gym: gsm8k", "skyrl_gym", "function", "skyrl_gsm8k", "numbers"),
    Wild("skyrl-gym: gsm8k, flexible", "skyrl_gym", "function", "skyrl_gsm8k_flexible", "numbers"),
    Wild("skyrl-gym: gsm8k, last turn", "skyrl_gym", "function", "skyrl_gsm8k_turns", "numbers"),
    Wild("skyrl-gym: aime", "skyrl_gym", "function", "skyrl_aime", "powers", "", UNIT),
    Wild("skyrl-gym: aime, boxed", "skyrl_gym", "function", "skyrl_aime_boxed", "powers", "", UNIT),
    Wild("skyrl-gym: search", "skyrl_gym", "function", "skyrl_search", "capitals"),
    Wild("skyrl-gym: search, within", "skyrl_gym", "function", "skyrl_search_within", "capitals"),
    Wild("skyrl-gym: code", "skyrl_gym", "function", "skyrl_code", "programs", "code", "", 5.0),
    Wild("skyrl-gym: sql", "skyrl_gym", "function", "skyrl_sql", "queries", "", UNIT),
)


@cache
def interpreters() -> Mapping[str, tuple[str, str]]:
    """(interpreter, version) of each package that one of RLENV_PEERS has; the first that has it
    counts.
    """
    found: dict[str, tuple[str, str]] = {}
    for python in filter(None, os.environ.get("RLENV_PEERS", "").split(os.pathsep)):
        asked = subprocess.run(
            [python, "-c", PROBE, json.dumps(NAMES)], capture_output=True, text=True, check=False
        )
        for name, version in json.loads(asked.stdout or "{}").items():
            # The rubrics of verifiers left the package with its version 0.2.
            if name != "verifiers" or version.startswith("0.1."):
                found.setdefault(name, (python, version))
    return found


def targets() -> Iterator[Wild]:
    """All that the interpreters at hand have."""
    have = interpreters()
    yield from (one for one in FUNCTIONS if one.package in have)
    if "reasoning_gym" in have:
        said = subprocess.run(
            [have["reasoning_gym"][0], "-c", SETS], capture_output=True, text=True, check=True
        )
        for name in json.loads(said.stdout.splitlines()[-1]):
            yield Wild(f"reasoning-gym: {name}", "reasoning_gym", "gym", name)
