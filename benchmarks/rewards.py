"""Rewards of every case of the repository, to compare two commits.

``python benchmarks/rewards.py score OUT.jsonl`` scores the cases of this checkout with the rlenv
that is installed: the plugins' examples, rewrites and attacks, math's tables and cases, the
programs and kernels of the corpora, the constraints' hard cases, and the audit's zoo. Run it in
both checkouts, each with its own environment. Then

``python benchmarks/rewards.py diff BEFORE.jsonl AFTER.jsonl [--explained REASONS.json]`` prints
every case whose reward differs. REASONS.json maps the beginning of a case's name to the change that
explains it. The exit status is 1 where a difference is not explained, or where a case that was not
paid is paid now.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # so that `benchmarks` is a package

import argparse
import hashlib
import importlib
import importlib.util
import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, groupby
from typing import Any, NamedTuple

PLUGINS = ROOT / "plugins"
ZOO = ROOT / "contrib/rlenv-auditor/tests/zoo"
TRIES = 4  # of a verdict that the machine's load made unscored
PROBES = (
    "",
    " ",
    "nan",
    "0",
    "none",
    "True",
    "[]",
    "{}",
    "yes",
    "I do not know.",
    "```python\npass\n```",
)

# Their rewards depend on luck, or on what ran before.
UNSTEADY = ("zoo_state:", "zoo_code:shared_names")


class Case(NamedTuple):
    """One response: its name, the environment (a table of env.toml, or the path of one), the task's
    fields.
    """

    name: str
    environment: str
    task: dict[str, Any]
    response: str


def stages(*slots: dict[str, Any]) -> str:
    return json.dumps({"name": "rewards", "stage": list(slots)}, sort_keys=True)


def loaded(path: Path) -> Any:
    """A module of the tests, with the folders that pytest would put on the path."""
    for folder in (path.parent, path.parent / "helpers"):
        sys.path.append(str(folder))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fields(task: Any) -> dict[str, Any]:
    return {"prompt": task.prompt, "answer": task.answer, "info": task.info, "id": task.id}


def given_by_plugins() -> Iterator[Case]:
    """Examples, and what attacks and rewrites make of them."""
    for name in ("math", "code", "cuda", "constraints", "judge"):
        plugin = importlib.import_module(f"rlenv_plugin_{name}")
        attacks = plugin.rlenv_attacks()
        rewrites = plugin.rlenv_rewrites()
        for short, sets in plugin.rlenv_examples().items():
            for number, examples in enumerate(sets if isinstance(sets, (list, tuple)) else [sets]):
                try:
                    before = [{"use": f"{name}/run", "weight": 0}] if short == "diff" else []
                    slot = {
                        "use": f"{name}/{short}",
                        "weight": 1,
                        "options": dict(examples.options),
                    }
                    env = stages(*before, slot)
                except TypeError:
                    continue  # options that are objects, such as a scripted judge
                at = f"{name}/{short} {number}"
                for pair, (task, response) in enumerate([*examples.right, *examples.wrong]):
                    yield Case(f"{at} example {pair}", env, fields(task), response)
                    for rewrite in rewrites.get(short, ()):
                        if isinstance(changed := rewrite.apply(task, response), str):
                            yield Case(f"{at} {rewrite.name} {pair}", env, fields(task), changed)
                for pair, (task, _) in enumerate(examples.right):
                    for attack in attacks.get(short, ()):
                        if isinstance(built := attack.build(task), str):
                            yield Case(f"{at} {attack.name} {pair}", env, fields(task), built)


def math() -> Iterator[Case]:
    env = stages({"use": "math/equal"})
    tests = PLUGINS / "rlenv-plugin-math/tests"
    for path in sorted(tests.glob("compare_tables/*.txt")):
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            gold, mark, other = line.partition(" ;; ")
            if mark:
                task = {"prompt": "a question", "answer": gold}
                yield Case(f"math {path.stem} {number}", env, task, f"\\boxed{{{other}}}")
    written_out = loaded(PLUGINS / "rlenv-plugin-code/tests/helpers/code_corpus.py").written_out
    for path in sorted(tests.glob("cases/*.jsonl")):
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            task = {"prompt": "a question", "answer": row["gold"], "id": row["id"]}
            yield Case(f"math {row['id']}", env, task, written_out(row["response"]))


def programs() -> Iterator[Case]:
    corpus = loaded(PLUGINS / "rlenv-plugin-code/tests/helpers/code_corpus.py")
    plain = stages(
        {"use": "code/compile"},
        {"use": "code/run", "weight": 0, "options": {"timeout": 2.0, "budget": 8.0}},
        {"use": "code/diff", "options": {"score": "all"}},
        {"use": "code/limits"},
    )
    suite = stages({"use": "code/tests", "options": {"timeout": 1.0, "budget": 25.0}})
    for case in corpus.attacks({}):
        if case.env in ("plain", "suite") and "jail" in (case.only or ("jail",)):
            env = plain if case.env == "plain" else suite
            yield Case(f"code attack {case.name}", env, fields(case.task), case.response)
    for kind, env in (("plain", plain), ("suite", suite)):
        for name, task, response in corpus.honest(kind):
            yield Case(f"code honest {name}", env, fields(task), response)


def kernels() -> Iterator[Case]:
    tests = PLUGINS / "rlenv-plugin-cuda/tests"
    rest = (
        {"use": "cuda/run", "weight": 0, "options": {"budget": 0.8}},
        {"use": "cuda/diff", "options": {"score": "all"}},
    )
    ways = {  # file of the tests: names in the corpus, stages
        "test_cuda_corpus": (
            "numba",
            stages({"use": "cuda/compile", "options": {"compiler": "none"}}, *rest),
        ),
        "test_cuda_corpus_cpp": (
            "cuda",
            stages({"use": "cuda/compile"}, {"use": "cuda/limits", "weight": 1}),
        ),
    }
    for stem, (lang, env) in ways.items():
        corpus = loaded(tests / f"{stem}.py")
        for kind in ("honest", "adversarial"):
            for name, task, response in corpus.answers(f"{kind}-{lang}.md"):
                yield Case(f"cuda {lang} {kind} {name}", env, fields(task), response)
    corpus = loaded(tests / "test_cuda_triton.py")
    for kind in ("honest", "adversarial"):
        for row in corpus.sections(f"{kind}-triton.md"):
            name, program, _ = row.values
            task = {
                "prompt": "Write it.",
                "info": {"kernel": {**corpus.TASKS[name], "lang": "triton"}},
                "id": name,
            }
            yield Case(
                f"cuda triton {kind} {row.id}",
                ways["test_cuda_corpus"][1],
                task,
                f"```python\n{program}\n```\n",
            )


def constraints() -> Iterator[Case]:
    folder = PLUGINS / "rlenv-plugin-constraints/tests/cases"
    env = stages({"use": "constraints/all", "options": {"source": "info.constraints"}})
    for number, (kind, given, follow, fail) in enumerate(loaded(folder / "strict.py").CASES):
        task = {"prompt": "Say it.", "info": {"constraints": [{"kind": kind, **given}]}}
        for at, response in enumerate([*follow, *fail]):
            yield Case(f"constraints {kind} {number}.{at}", env, task, response)
    for name in ("ifeval", "ifbench"):
        for mode in ("strict", "official"):
            env = stages({"use": "constraints/ifeval", "options": {"mode": mode}})
            for number, (kind, given, response, *_) in enumerate(
                loaded(folder / f"{name}.py").CASES
            ):
                info = {"instruction_id_list": [kind], "kwargs": [given]}
                yield Case(
                    f"{mode} {kind} {number}", env, {"prompt": "Say it.", "info": info}, response
                )


def zoo() -> Iterator[Case]:
    """Each verifier of the zoo on three of its tasks: right responses, probes, the prompt, the
    answer in many forms.
    """
    loaded(ZOO / "zoo_members.py")
    for path in sorted(ZOO.glob("zoo_*.py")):
        if path.stem not in ("zoo_members", "zoo_judges"):
            loaded(path)
    for member in sys.modules["zoo_members"].MEMBERS:
        if not member.tasks or member.model or member.signature or member.name.startswith(UNSTEADY):
            continue
        rows = list(
            map(json.loads, (ZOO / f"{member.tasks}.jsonl").read_text("utf-8").splitlines())
        )[:3]
        right = ZOO / f"{member.tasks}.right.jsonl"
        given = (
            [json.loads(line) for line in right.read_text("utf-8").splitlines()]
            if right.exists()
            else []
        )
        env = stages({"use": member.name, "timeout": 5})
        for row in rows:
            answer = row.get("answer", row.get("canonical_solution", ""))
            info = {
                key: value for key, value in row.items() if key not in ("id", "prompt", "answer")
            }
            task = {
                "prompt": row["prompt"],
                "answer": answer or None,
                "info": info,
                "id": row["id"],
            }
            forms = (
                answer,
                f"#### {answer}",
                f"\\boxed{{{answer}}}",
                f"```python\n{answer}\n```",
                row["prompt"],
            )
            ours = [one["response"] for one in given if one["task"] == row["id"]]
            for at, response in enumerate([*PROBES, *forms, *ours]):
                yield Case(f"zoo {member.name} {row['id']} {at}", env, task, response)


SOURCES: tuple[Callable[[], Iterator[Case]], ...] = (
    given_by_plugins,
    math,
    constraints,
    zoo,
    kernels,
    programs,
)


def score(out: Path) -> None:
    """Write one row a case: name, key of the case's content, value, kind of the fault."""
    from rlenv import Environment, RlenvError, Task

    sys.set_int_max_str_digits(0)  # of a task of the corpus
    os.environ["RLENV_SECRET"] = "of the comparison"  # what is drawn is the same in both
    copy = Path(shutil.copytree(ZOO, Path(tempfile.mkdtemp(prefix="rewards-")) / "zoo"))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(copy), os.environ.get("PYTHONPATH", "")])
    sys.path.insert(0, str(copy))
    os.chdir(copy)
    with out.open("w", encoding="utf-8") as file:
        cases = chain.from_iterable(source() for source in SOURCES)
        for environment, group in groupby(cases, lambda case: case.environment):
            rows = list(group)
            pairs = [(Task(**row.task), row.response) for row in rows]
            try:
                with Environment.from_dict(json.loads(environment)) as env:
                    found = [(v.value, v.fault and v.fault.kind) for v in verdicts(env, pairs)]
            except RlenvError as err:  # no model to ask, or a stage of groups alone
                found = [(None, f"not asked: {type(err).__name__}")] * len(rows)
            for row, (value, fault) in zip(rows, found, strict=True):
                key = hashlib.sha256(repr(row[1:]).encode("utf-8", "surrogatepass")).hexdigest()[
                    :16
                ]
                file.write(
                    json.dumps({"name": row.name, "key": key, "value": value, "fault": fault})
                    + "\n"
                )
            print(f"{rows[0].name}: {len(rows)} cases", file=sys.stderr)
    shutil.rmtree(copy.parent)


def verdicts(env: Any, pairs: list[Any]) -> list[Any]:
    found = list(env.evaluate_many(pairs, workers=2))
    for at, (task, response) in enumerate(pairs):
        for _ in range(TRIES):
            fault = found[at].fault
            if fault is None or not (fault.transient or fault.kind in ("timeout", "pool")):
                break
            found[at] = env.evaluate(task, response)
    return found


def diff(before: Path, after: Path, explained: dict[str, str]) -> int:
    """Print the cases whose rewards differ; 0 where each difference is explained and none became
    paid.
    """
    old, new = (
        {(row["name"], row["key"]): row for row in map(json.loads, path.open(encoding="utf-8"))}
        for path in (before, after)
    )
    bad = 0
    for name, key in sorted(old.keys() & new.keys()):
        was = old[name, key]
        now = new[name, key]
        if (was["value"], was["fault"]) == (now["value"], now["fault"]):
            continue
        reason = next((why for start, why in explained.items() if name.startswith(start)), "")
        paid = (was["value"] or 0) < (now["value"] or 0)
        bad += paid or not reason
        note = "PAID MORE: " if paid else ""
        print(
            f"{note}{name}: {was['value']} {was['fault'] or ''} -> {now['value']}"
            f" {now['fault'] or ''}  [{reason or 'not explained'}]"
        )
    kinds = Counter(name.split()[0] for name, _ in old.keys() & new.keys())
    print(
        f"{len(old.keys() & new.keys())} cases in both ({dict(kinds)}), {bad} differences to"
        " explain"
    )
    print(
        f"only before: {len(old.keys() - new.keys())}, only after: {len(new.keys() - old.keys())}"
    )
    return int(bad > 0)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, dest="command")
    commands.add_parser("score").add_argument("out", type=Path)
    compare = commands.add_parser("diff")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    compare.add_argument("--explained", type=Path)
    given = parser.parse_args()
    if given.command == "score":
        if os.environ.get("PYTHONHASHSEED") != "0":  # some members of the zoo hash text
            os.execve(
                sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"}
            )
        score(given.out.resolve())
        return 0
    reasons = json.loads(given.explained.read_text("utf-8")) if given.explained else {}
    return diff(given.before, given.after, reasons)


if __name__ == "__main__":
    sys.exit(main())
