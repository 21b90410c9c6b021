"""A folder with reward functions as people write them for trainers, and environments of them."""

from __future__ import annotations

import textwrap
import tomllib

import pytest
from rlenv import Environment, Task

TRL = '''
import asyncio, math, os, sys, time
from fractions import Fraction

def leaky(completions, answer, **kwargs):
    return [1.0 if gold in text else 0.0 for text, gold in zip(completions, answer)]

def sound(completions, answer, **kwargs):
    return [1.0 if text.strip() == gold else 0.0 for text, gold in zip(completions, answer)]

async def later(prompts, completions, solution):
    await asyncio.sleep(0)
    return [2.0 if text == gold else -1.0 for text, gold in zip(completions, solution)]

def chat(prompts, completions, answer, **kwargs):
    system = {"role": "system", "content": "Be brief."}
    assert prompts == [[system, {"role": "user", "content": "1+1="}]]
    return [float(messages[-1]["content"] == gold) for messages, gold in zip(completions, answer)]

def columns(prompts, completions, level, answer=None, **kwargs):
    assert (prompts, completions, level, answer) == (["1+1="], ["2"], [3], ["2"])
    assert sorted(kwargs) == ["log_extra", "log_metric"]
    return [1.0]

def logs(completions, log_metric, log_extra):
    log_metric("length", 1.0)
    log_extra("gold", ["2"])
    return [1.0]

def needs_ids(completions, completion_ids): return [1.0]

class Odd:
    def __init__(self, number): self.number = number
    def __float__(self): return self.number
    def __eq__(self, other): return True

class Hostile:
    def __float__(self): sys.exit(0)
    def __repr__(self): raise KeyboardInterrupt

class Tensor(list):
    """As a tensor or an array of one element."""
    def item(self):
        if len(self) != 1: raise ValueError("only one element")
        return self[0]

class Scalar:
    """As a tensor without dimensions, which cannot be iterated."""
    def __len__(self): raise TypeError("len() of a 0-d tensor")
    def __iter__(self): raise TypeError("iteration over a 0-d tensor")
    def item(self): return 1.0

def endless():
    while True: yield 1.0

def raises(completions, **_): raise ValueError("no number in the text")
def exits(completions, **_): sys.exit(0)
def leaves(completions, **_): os._exit(0)
async def async_exits(completions, **_):
    await asyncio.sleep(0)
    if completions[0] == "exit": sys.exit(0)
    if completions[0] == "interrupt": raise KeyboardInterrupt
    return [1.0]
def sleeps(completions, **_): time.sleep(60)
def spins(completions, **_):
    while True: pass
def forks(completions, **_):
    if os.fork() == 0: time.sleep(60)
    return [1.0]
def patches(completions, **_):
    time.time = time.monotonic = time.perf_counter = lambda: 0.0
    time.sleep(60)
def prints(completions, **_):
    print("x" * 100_000)
    os.write(1, b"x" * 100_000)
    return [1.0]
def backtracks(completions, **_):
    import re
    return [float(bool(re.fullmatch("(a+)+b", text)) or text == "2") for text in completions]
'''
VERL = """
def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    assert (data_source, extra_info) == ("sums", {"level": 3})
    right = solution_str == ground_truth
    return {"score": 1.0 if right else -1.0, "acc": right, "gold": ground_truth}

async def later(data_source, solution_str, ground_truth, **kwargs):
    return float(solution_str == ground_truth)

def leaky(data_source, solution_str, ground_truth, extra_info=None):
    return float(ground_truth in solution_str)

def sound(data_source, solution_str, ground_truth, extra_info=None):
    return float(solution_str.strip() == ground_truth)

def nothing(data_source, solution_str, ground_truth, extra_info=None):
    return None

def keyless(data_source, solution_str, ground_truth, extra_info=None):
    return {"acc": 1.0}
"""
TASK = Task("1+1=", answer="2")


class Files:
    """``trl.py`` and ``verl.py`` in a folder, and environments of one stage that name them."""

    def __init__(self, folder):
        self.folder = folder
        for name, source in {"trl": TRL, "verl": VERL}.items():
            (folder / f"{name}.py").write_text(textwrap.dedent(source))

    def stage(self, kind, function, timeout=None, **options):
        limit = {} if timeout is None else {"timeout": timeout}
        options = {"function": f"./{kind}.py:{function}", **options}
        return {"use": f"train/{kind}", "options": options, **limit}

    def returned(self, *values, **options):
        """What becomes of each value that a function of TRL returns."""
        made = f"VALUES = [{', '.join(f'lambda: {value}' for value in values)}]"
        function = "def f(completions, which, **_): return VALUES[which[0]]()"
        (self.folder / "returns.py").write_text("\n".join([TRL, made, function]))
        options = {"function": "./returns.py:f", **options}
        tasks = [Task("1+1=", info={"which": at}) for at in range(len(values))]
        with self.load({"name": "x", "stage": [{"use": "train/trl", "options": options}]}) as env:
            return [env.evaluate(task, "2").results[0] for task in tasks]

    def env(self, kind, function, timeout=None, code=True, **options):
        table = {"name": "x", "stage": [self.stage(kind, function, timeout, **options)]}
        return self.load(table, code=code)

    def load(self, table, **options):
        return Environment.from_dict(table, base_dir=self.folder, **options)

    def toml(self, text):
        return tomllib.loads(text)

    def result(self, kind, function, response="2", task=TASK, **options):
        with self.env(kind, function, **options) as env:
            return env.evaluate(task, response).results[0]

    def score(self, kind, function, *given, **options):
        return self.result(kind, function, *given, **options).outcome.score

    def fault(self, kind, function, *given, **options):
        fault = self.result(kind, function, *given, **options).fault
        return fault.kind, fault.message


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)
