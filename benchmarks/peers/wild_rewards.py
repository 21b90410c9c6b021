"""Calls rewards of public packages as their own examples do.

A Python that has the package imports it. Each function takes what its package takes, and no more is
done here than to put a task's answer into the place where the package looks for it.  Of a tuple the
number is returned.
"""

import json
import os
import sqlite3
import tempfile
from functools import cache


def math_verify_boxed(response, answer):
    """Both sides by the default extractors; the answer in a box."""
    from math_verify import parse, verify

    return float(verify(parse("\\boxed{" + answer + "}"), parse(response)))


def math_verify_dollars(response, answer):
    """The answer between dollar signs, as in the package's readme."""
    from math_verify import parse, verify

    return float(verify(parse("$" + answer + "$"), parse(response)))


def math_verify_metric(response, answer):
    """The metric that evaluation harnesses use, with expressions and LaTeX on both sides."""
    from math_verify import ExprExtractionConfig, LatexExtractionConfig
    from math_verify.metric import math_metric

    both = (ExprExtractionConfig(), LatexExtractionConfig())
    score, _ = math_metric(gold_extraction_target=both, pred_extraction_target=both)(
        ["\\boxed{" + answer + "}"], [response]
    )
    return float(score)


def skyrl_gsm8k(response, answer):
    from skyrl_gym.envs.gsm8k.utils import compute_score

    return compute_score(response, answer)


def skyrl_gsm8k_flexible(response, answer):
    from skyrl_gym.envs.gsm8k.utils import compute_score

    return compute_score(response, answer, method="flexible")


def skyrl_gsm8k_turns(response, answer):
    """One last turn of the environment with several turns, through its own class."""
    from skyrl_gym.envs.gsm8k.multi_turn_env import GSM8kMultiTurnEnv

    env = GSM8kMultiTurnEnv(extras={"reward_spec": {"ground_truth": answer}, "max_turns": 1})
    return env.step(response)["reward"]


def skyrl_aime(response, answer):
    """+1 or -1, put on [0, 1]."""
    from skyrl_gym.envs.aime.utils import compute_score

    return (compute_score(response, answer)["score"] + 1) / 2


def skyrl_aime_boxed(response, answer):
    from skyrl_gym.envs.aime.utils import compute_score

    return (compute_score(response, answer, strict_box_verify=True)["score"] + 1) / 2


def skyrl_search(response, answer):
    from skyrl_gym.envs.search.utils import compute_score

    return compute_score(response, {"target": answer})


def skyrl_search_within(response, answer):
    from skyrl_gym.envs.search.utils import compute_score_subem

    return compute_score_subem(response, {"target": answer})


def skyrl_code(response, **columns):
    from skyrl_gym.envs.lcb.livecodebench import compute_score

    return compute_score(response, json.loads(columns["tests"]))[1]


@cache
def _database(script):
    handle, path = tempfile.mkstemp(prefix="wild-", suffix=".sqlite")
    os.close(handle)
    with sqlite3.connect(path) as connection:
        connection.executescript(script)
    connection.close()
    return path


def skyrl_sql(response, answer, **columns):
    """-1 for a wrong form, 0 for a wrong result, 1; below zero counts as zero."""
    from skyrl_gym.envs.sql.utils import compute_score_single

    return max(0.0, compute_score_single(response, answer, _database(columns["script"])))


def _verifiers_quick_start():
    import verifiers as vf

    parser = vf.XMLParser(["reasoning", "answer"], answer_field="answer")

    async def correct_answer(parser, completion, answer):
        return 1.0 if (parser.parse_answer(completion) or "") == answer else 0.0

    rubric = vf.Rubric(funcs=[correct_answer], parser=parser)
    rubric.add_reward_func(parser.get_format_reward_func(), weight=0.2)
    return rubric


def __getattr__(name):
    """Rubrics are made when they are asked for: the package may not be here."""
    if name == "verifiers_math":
        import verifiers as vf

        return vf.MathRubric()
    if name == "verifiers_xml":
        return _verifiers_quick_start()
    raise AttributeError(name)
