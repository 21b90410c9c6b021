"""How to call a reward function that was written for a trainer: a lambda that the error message
offers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from inspect import Parameter

from attrs import frozen


@frozen
class Foreign:
    """The signature of a trainer's reward functions.

    Args:
        marks: parameters that only functions of this trainer have.
        arguments: the name of each argument that the trainer passes, and an expression for its
            value.
        columns: true where the trainer passes the other columns of a row by name, one list each.
        result: what selects the score of one response from the result.
        stage: the stage that runs such functions, for an env.toml; "" for none.
    """

    marks: frozenset[str]
    arguments: Mapping[str, str]
    columns: bool = False
    result: str = ""
    stage: str = ""


FOREIGN = {
    "verl": Foreign(
        marks=frozenset({"solution_str", "ground_truth"}),
        arguments={
            "data_source": '""',
            "solution_str": "response",
            "ground_truth": "answer",
            "extra_info": "info",
        },
        stage="train/verl",
    ),
    "OpenRLHF": Foreign(
        marks=frozenset({"queries", "labels"}),
        arguments={
            "queries": "[prompt + response]",
            "prompts": "[prompt]",
            "labels": "[answer]",
        },
        result='["rewards"][0]',
    ),
    "TRL": Foreign(
        marks=frozenset({"completions"}),
        arguments={
            "prompts": "[prompt]",
            "completions": "[response]",
            "answer": "[answer]",
        },
        columns=True,
        result="[0]",
        stage="train/trl",
    ),
}
SUPPLIED = ("prompt", "response", "answer", "info")


def remedy(name: str, target: str, parameters: Mapping[str, Parameter]) -> str:
    """Return what to pass instead of a trainer's function, "" where no trainer has this signature.

    Args:
        name: the name of the function where the caller wrote it.
        target: the function as ``module:name``, for an env.toml.
        parameters: its parameters, by name.
    """
    for trainer, foreign in FOREIGN.items():
        if foreign.marks <= parameters.keys():
            given = [*_arguments(foreign, parameters)]
            words = {
                word
                for each in given
                for word in re.findall(r"\w+", each.partition("=")[2] or each)
            }
            taken = ", ".join(each for each in SUPPLIED if each in words)
            call = f"{name}({', '.join(given)}){foreign.result}"
            said = f"This is {trainer}'s signature: pass lambda {taken}: {call}"
            if foreign.stage:
                said += (
                    f'; in an env.toml, use = "{foreign.stage}" and options = {{ function ='
                    f' "{target}" }}'
                )
            return said
    return ""


def _arguments(foreign: Foreign, parameters: Mapping[str, Parameter]) -> Iterator[str]:
    """The arguments that this function takes, each as ``name=value``."""
    takes_any = any(each.kind is Parameter.VAR_KEYWORD for each in parameters.values())
    for name, value in foreign.arguments.items():
        if name in parameters or (takes_any and name != "answer"):
            yield f"{name}={value}"
    if not foreign.columns:
        return
    own = [
        each for each in parameters if each not in foreign.arguments and _is_named(parameters, each)
    ]
    for name in own:
        if parameters[name].default is Parameter.empty:
            yield f'{name}=[info["{name}"]]'
    if takes_any:
        others = " if k not in " + repr(tuple(own)) if own else ""
        yield f"**{{k: [v] for k, v in info.items(){others}}}"


def _is_named(parameters: Mapping[str, Parameter], name: str) -> bool:
    return parameters[name].kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
