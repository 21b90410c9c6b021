"""How to call a reward function that was written for a trainer: a lambda that the error message
offers.

The signatures belong to the distributions that adapt trainers: they register them, in the group
``rlenv.signatures`` of entry points.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter
from typing import TypeAlias

from attrs import frozen


@frozen
class Signature:
    """The signature of a trainer's reward functions.

    Register one by an entry point of the group ``rlenv.signatures``, whose name is the trainer's::

        Signature(
            marks=frozenset({"solution_str"}),
            arguments={"solution_str": "response", "ground_truth": "answer"},
            stage="train/mine",
        )

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


SignatureSource: TypeAlias = Callable[[], Mapping[str, Signature]]
_sources: list[SignatureSource] = []


def set_signature_source(source: SignatureSource) -> None:
    """Look trainers' signatures up in ``source``, by the name of the trainer."""
    _sources[:] = [source]


SUPPLIED = ("prompt", "response", "answer", "info")


def remedy(name: str, target: str, parameters: Mapping[str, Parameter]) -> str:
    """Return what to pass instead of a trainer's function, "" where no trainer has this signature.

    Args:
        name: the name of the function where the caller wrote it.
        target: the function as ``module:name``, for an env.toml.
        parameters: its parameters, by name.
    """
    known = _sources[0]() if _sources else {}
    for trainer, signature in known.items():
        if signature.marks <= parameters.keys():
            given = [*_arguments(signature, parameters)]
            words = {
                word
                for each in given
                for word in re.findall(r"\w+", each.partition("=")[2] or each)
            }
            taken = ", ".join(each for each in SUPPLIED if each in words)
            call = f"{name}({', '.join(given)}){signature.result}"
            said = f"This is {trainer}'s signature: pass lambda {taken}: {call}"
            if signature.stage:
                said += (
                    f'; in an env.toml, use = "{signature.stage}" and options = {{ function ='
                    f' "{target}" }}'
                )
            return said
    return ""


def _arguments(signature: Signature, parameters: Mapping[str, Parameter]) -> Iterator[str]:
    """The arguments that this function takes, each as ``name=value``."""
    takes_any = any(each.kind is Parameter.VAR_KEYWORD for each in parameters.values())
    for name, value in signature.arguments.items():
        if name in parameters or (takes_any and name != "answer"):
            yield f"{name}={value}"
    if not signature.columns:
        return
    own = [
        each
        for each in parameters
        if each not in signature.arguments and _is_named(parameters, each)
    ]
    for name in own:
        if parameters[name].default is Parameter.empty:
            yield f'{name}=[info["{name}"]]'
    if takes_any:
        others = " if k not in " + repr(tuple(own)) if own else ""
        yield f"**{{k: [v] for k, v in info.items(){others}}}"


def _is_named(parameters: Mapping[str, Parameter], name: str) -> bool:
    return parameters[name].kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
