"""Score files and the statistics over them.

`ScoresReader` reads a file that `rlenv score` wrote, row by row. `Tally` counts rows, and
`reward_interval`, `pass_interval`, `pass_at`, `signal` and `splits` say what the counts mean.
`verdict_to_dict` and `verdict_from_dict` turn a verdict into JSON values and back. `OWN_FAULTS`
maps the kinds of faults that a verifier itself causes to what it did.
"""

from __future__ import annotations

from .file import SCHEMA, Header, ScoresReader, incomplete
from .records import ScoreRow, StageRecord, VerdictRecord
from .stats import Cluster, Interval, interval, pass_at_k
from .tally import Signal, Tally, pass_at, pass_interval, reward_interval, signal, splits
from .unscored import OWN_FAULTS
from .verdicts import stage_rows, verdict_from_dict, verdict_to_dict

__all__ = [
    "OWN_FAULTS", "SCHEMA", "Cluster", "Header", "Interval", "ScoreRow", "ScoresReader", "Signal",
    "StageRecord", "Tally", "VerdictRecord", "incomplete", "interval", "pass_at", "pass_at_k",
    "pass_interval", "reward_interval", "signal", "splits", "stage_rows", "verdict_from_dict",
    "verdict_to_dict",
]  # fmt: skip
