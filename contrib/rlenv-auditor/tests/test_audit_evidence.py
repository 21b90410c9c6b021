"""A finding holds only what is shown: the changed response is really wrong, and the stage that it
names really paid it.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path

import pytest
from rlenv import Task
from rlenv_auditor import audit
from rlenv_auditor.codes import FOUND, SKIPPED
from rlenv_auditor.components import alone, parts, special_documents, specials
from rlenv_auditor.model import Reply
from rlenv_auditor.openness import is_open
from rlenv_auditor.render.sarif import to_sarif
from rlenv_auditor.solved import plainly_in
from rlenv_auditor.stages import responsible

PACKAGE = Path(str(files("rlenv_auditor")))
LINES = '''
import random


def last(response, info):
    """Reads the last line, and lets the work before it be."""
    lines = response.strip().splitlines()
    return float(len(lines) > 1 and lines[-1].strip() == info["total"])


def second(response, info):
    lines = response.strip().splitlines()
    return float(len(lines) > 2 and lines[1].strip() == info["work"])


def prime(response, info):
    """Any prime in the range is right."""
    text = response.strip()
    number = int(text) if text.isdecimal() and len(text) < 4 else 0
    return float(info["low"] < number < info["high"] and all(number % n for n in range(2, number)))


def any_number(response, info):
    """Takes any number for a prime in the range."""
    return float(response.strip().isdecimal())


def seeded(response, info):
    random.seed(11)
    return float("+" in response and random.randrange(9) < 9)


def drawn(response, info):
    chance = random.Random(f"secret/{response!a}")
    return float("+" in response and chance.randrange(9) < 9)


def lenient(response):
    return "please" in response.lower()
'''
ADDED = [
    {
        "id": f"t{n}",
        "prompt": f"Add {n} and 9 in numbered lines.",
        "info": {"total": str(n + 9), "work": "Then add."},
    }
    for n in range(31, 39)
]
PRIMES = [
    {
        "id": f"p{n}",
        "prompt": f"Name a prime above {n} and below {n + 60}.",
        "answer": str(p),
        "low": n,
        "high": n + 60,
    }
    for n, p in ((10, 13), (20, 23), (30, 31), (40, 97))
]


def lines_of(task: Mapping[str, object]) -> str:
    info = task["info"]
    assert isinstance(info, dict)
    return f"1. Take 9.\nThen add.\n{info['total']}"


@pytest.mark.parametrize("name", ["last", "second"])
def test_a_verifier_of_one_line_is_not_accused_for_what_is_in_another(
    written: Callable[..., Path], name: str
) -> None:
    rows = [{**{k: v for k, v in task.items() if k != "info"}, **task["info"]} for task in ADDED]  # type: ignore[dict-item]
    written(LINES, rows)
    right = {str(task["id"]): [lines_of(task)] for task in ADDED}
    only = ["robustness.paid", "gold.near", "gold.special", "gold.partial", "baselines.words"]
    card = audit(f"written:{name}", tasks_from="tasks.jsonl", only=only, right=right, budget=120.0)

    assert [one.title for one in card.findings] == []


@pytest.mark.parametrize(("name", "accused"), [("prime", False), ("any_number", True)])
def test_another_answer_to_an_open_task_proves_a_hole_only_if_all_are_paid(
    written: Callable[..., Path], name: str, accused: bool
) -> None:
    written(LINES, PRIMES)
    only = ["gold.swap", "gold.near", "gold.hollow", "baselines.constant", "meaning.changed"]
    card = audit(f"written:{name}", tasks_from="tasks.jsonl", only=only, budget=120.0)

    assert bool(card.findings) == accused, [one.title for one in card.findings]


@pytest.mark.parametrize("name", ["seeded", "drawn"])
def test_inputs_drawn_with_a_constant_seed_are_found(
    written: Callable[..., Path], name: str
) -> None:
    rows = [{"id": f"s{n}", "prompt": f"Write add{n}(x)."} for n in range(3)]
    written(LINES, rows)
    right = {
        row["id"]: [f"```python\ndef add{n}(x):\n    return x + {n}\n```"]
        for n, row in enumerate(rows)
    }
    card = audit(
        f"written:{name}",
        tasks_from="tasks.jsonl",
        only=["secrecy.seeds"],
        right=right,
        budget=120.0,
    )

    assert [one.code for one in card.findings] == ["inputs-from-constant-seed"] * (name == "seeded")
    assert all("the seed 11 in each call" in one.title for one in card.findings)


TWO = """
name = "two"
[[stage]]
use = "./written.py:lenient"
name = "words"
[[stage]]
use = "core/equal"
name = "exact"
weight = 0
gate = 0
[tasks]
path = "tasks.jsonl"
id = "id"
prompt = "prompt"
answer = "answer"
"""


def test_a_finding_names_the_stage_that_paid(written: Callable[..., Path]) -> None:
    rows = [
        {"id": f"t{n}", "prompt": f"Please double {n}.", "answer": str(2 * n)}
        for n in range(31, 35)
    ]
    (written(LINES, rows) / "env.toml").write_text(TWO)
    card = audit("env.toml", only=["baselines.echo"], budget=120.0)

    assert " from words (" in card.findings[0].title
    assert card.findings[0].more["stages"] == {"words": 1.0, "exact": 0.0}


@pytest.mark.parametrize(
    ("stages", "paid", "names"),
    [
        ({"a": 1.0, "b": 0.0}, True, ["a"]),
        ({"a": 1.0, "b": 0.0}, False, ["b"]),
        ({"free": 1.0, "b": 0.5}, True, ["b"]),
        ({"a": None, "b": 1.0}, False, ["a"]),
    ],
)
def test_who_is_responsible_follows_from_the_scores(
    stages: dict[str, float | None], paid: bool, names: list[str]
) -> None:
    weights = {name: float(name != "free") for name in stages}
    reply = Reply(1.0 if paid else 0.0, stages=tuple(stages.items()))

    assert responsible(reply, weights, paid=paid) == names


@pytest.mark.parametrize(
    ("prompt", "several"),
    [
        ("Name a prime above 10.", True),
        ("Give three different even numbers.", True),
        ("Find two numbers whose sum is 10.", True),
        ("Find a number x such that x > 4.", True),
        ("Which is larger, 3 or 4?", False),
        ("Name the capital of Peru.", False),
        ("Give a JSON list between <answer> and </answer>.", False),
        ("Call one tool, as JSON with name and arguments.", False),
    ],
)
def test_a_prompt_says_whether_several_answers_are_right(prompt: str, several: bool) -> None:
    assert is_open(Task(prompt)) == several


def test_an_answer_at_the_end_of_a_long_response_is_seen() -> None:
    assert plainly_in(Task("?", answer="42"), "(" * 50_000 + "\n42")


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ("(3, 37)", ["3", "37"]),
        ("12 to 30", ["12", "30"]),
        ("Place: Lagos; Year: 1950", ["1950"]),
        ("Ann; Bob", ["Ann", "Bob"]),
        ("Lagos", ["Lagos"]),
    ],
)
def test_an_answer_has_parts(answer: str, texts: list[str]) -> None:
    assert [part.text for part in parts(answer)] == texts
    assert all(part.replaced(part.text) == answer for part in parts(answer))


def test_each_part_gets_special_values_and_zero_keeps_its_sign() -> None:
    made = {text for _, text in specials("(0, 37)")}

    assert {"(0, nan)", "(nan, 37)", "(0, inf)", "(0, -0)", "(0, )", "(0, None)"} <= made
    assert "(-0, 37)" not in made
    leaves = {text for _, text in special_documents('{"a": {"b": 1}}')}
    assert {'{"a": {"b": NaN}}', '{"a": {"b": null}}', '{"a": {"b": Infinity}}'} <= leaves


def test_a_part_is_tried_alone() -> None:
    assert dict(alone("Lamps: 3\nChairs: 20")) == {
        "only the first part of the answer": "Lamps: 3",
        "only the first part of the answer, without its label": "3",
        "only the last part of the answer": "Chairs: 20",
        "only the last part of the answer, without its label": "20",
    }
    assert list(alone("Lagos")) == []


def raised() -> list[str]:
    """The codes of all skips that the package raises."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "Skip"
            ):
                code = (
                    next((k.value for k in node.keywords if k.arg == "code"), None) or node.args[-1]
                )
                assert len(node.args) + len(node.keywords) == 2, f"{path}:{node.lineno}"
                assert isinstance(code, ast.Constant), f"{path}:{node.lineno}"
                found.append(str(code.value))
    return found


def test_every_reason_has_a_code_that_the_schema_and_the_page_list() -> None:
    schema = json.loads((PACKAGE / "render" / "audit.schema.json").read_text("utf-8"))["$defs"]
    page = next(
        parent / "docs" / "how-to" / "audit-codes.md"
        for parent in Path(__file__).parents
        if (parent / "docs").is_dir()
    ).read_text("utf-8")

    assert set(raised()) <= set(SKIPPED)
    for codes, kind in ((FOUND, "finding"), (SKIPPED, "result")):
        assert schema[kind]["properties"]["code"]["enum"] == [*codes, *([""] * (kind == "result"))]
        assert [name for name in codes if f"`{name}`" not in page] == []


def test_codes_are_in_findings_skipped_probes_and_sarif(written: Callable[..., Path]) -> None:
    rows = [
        {"id": f"q{n}", "prompt": f"Please double {n}.", "answer": str(2 * n)}
        for n in range(31, 35)
    ]
    written(LINES, rows)
    only = ["baselines.echo", "opinion.second"]
    card = audit("written:lenient", tasks_from="tasks.jsonl", only=only, budget=120.0)
    (run,) = to_sarif(card)["runs"]
    (invocation,) = run["invocations"]

    assert card.findings[0].code == "wrong-response-paid"
    assert [one.code for one in card.results] == ["", "not-asked-for"]
    assert run["results"][0]["properties"]["code"] == "wrong-response-paid"
    assert [one["descriptor"]["id"] for one in invocation["toolExecutionNotifications"]][1:] == [
        "not-asked-for"
    ]


def test_the_probes_of_answers_cost_the_same_for_each_task(written: Callable[..., Path]) -> None:
    rows = [
        {
            "id": f"q{n}",
            "prompt": f'Say "{n}, {n + 1}" and "yes", not "no".',
            "answer": f"{n}, {n + 1}",
        }
        for n in range(31, 43)
    ]
    written(LINES, rows)
    right = {str(row["id"]): [f"Pair: {row['answer']} please"] for row in rows}
    only = ["gold.special", "gold.partial", "gold.case", "baselines.words"]
    calls = [
        sum(
            result.calls
            for result in audit(
                "written:lenient", tasks_from="tasks.jsonl", only=only, right=right, tasks=count
            ).results
        )
        for count in (3, 6, 12)
    ]

    assert calls[0] > 0
    assert calls[1] <= 2.2 * calls[0]
    assert calls[2] <= 2.2 * calls[1]
