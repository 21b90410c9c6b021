"""The signatures of trainers' reward functions, for the message about a function that has one.

Each is an entry point of the group ``rlenv.signatures``: core reads them when it cannot supply the
parameters of a function, and offers the adapter.
"""

from __future__ import annotations

from rlenv.authoring import Signature

VERL = Signature(
    marks=frozenset({"solution_str", "ground_truth"}),
    arguments={
        "data_source": '""',
        "solution_str": "response",
        "ground_truth": "answer",
        "extra_info": "info",
    },
    stage="train/verl",
)
OPENRLHF = Signature(
    marks=frozenset({"queries", "labels"}),
    arguments={
        "queries": "[prompt + response]",
        "prompts": "[prompt]",
        "labels": "[answer]",
    },
    result='["rewards"][0]',
)
TRL = Signature(
    marks=frozenset({"completions"}),
    arguments={
        "prompts": "[prompt]",
        "completions": "[response]",
        "answer": "[answer]",
    },
    columns=True,
    result="[0]",
    stage="train/trl",
)
