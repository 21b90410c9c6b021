"""``verdict_from_dict`` takes what ``verdict_to_dict`` wrote, and rejects everything else: its file
may be anybody's.
"""

from __future__ import annotations

import copy
import json

import pytest
from rlenv import Fault, Outcome, StageResult, Verdict
from rlenv_cli.scores import verdict_from_dict, verdict_to_dict

INNER = StageResult(
    "all/right", Outcome(0.5, "half", {"n": [1]}, [(0, 0.25)], {"gold": "4"}), seconds=0.1
)
WHOLE = Verdict(0.5, (StageResult("all", Outcome(0.5), children=(INNER,)),), None, "ab12", 0.75)
BROKEN = Verdict(
    None,
    (StageResult("s", None, Fault("crash", "died", True)),),
    "s",
    "ab12",
    None,
    Fault("crash", "died", True),
)


def record(verdict=WHOLE):
    return json.loads(json.dumps(verdict_to_dict(verdict)))


@pytest.mark.parametrize("verdict", [WHOLE, BROKEN, Verdict(0.0)])
def test_a_verdict_survives_a_trip_through_json(verdict):
    found = verdict_from_dict(record(verdict))

    assert found == verdict
    assert found.results == verdict.results
    assert type(found.value) is type(verdict.value)


STAGE = ("results", 0)
INSIDE = (*STAGE, "children", 0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("value",), 1e9),
        (("value",), float("nan")),
        (("value",), -0.5),
        (("value",), "1.0"),
        (("value",), True),
        (("raw",), float("inf")),
        (("raw",), "0.5"),
        (("stopped_at",), 3),
        (("fingerprint",), None),
        (("results",), "abc"),
        (("results",), {"0": "x"}),
        (("fault",), "crash"),
        (STAGE, None),
        ((*STAGE, "stage"), 1),
        ((*STAGE, "seconds"), float("nan")),
        ((*STAGE, "fault"), {"kind": "crash", "message": "both", "transient": False}),
        ((*STAGE, "fault"), {"kind": "crash", "message": "both", "transient": 1}),
        ((*STAGE, "outcome"), {}),
        ((*INSIDE, "outcome", "score"), 1.5),
        ((*INSIDE, "outcome", "score"), None),
        ((*INSIDE, "outcome", "detail"), ["half"]),
        ((*INSIDE, "outcome", "data"), [["n", 1]]),
        ((*INSIDE, "outcome", "private"), None),
        ((*INSIDE, "outcome", "steps"), [[0, 2.0]]),
        ((*INSIDE, "outcome", "steps"), "ab"),
        ((*INSIDE, "children"), None),
    ],
)
def test_what_is_no_record_of_a_verdict_is_an_error(path, value):
    hostile = copy.deepcopy(record())
    *parents, last = path
    place = hostile
    for key in parents:
        place = place[key]
    place[last] = value

    with pytest.raises(ValueError, match=r"record|score|steps"):
        verdict_from_dict(hostile)


@pytest.mark.parametrize("key", ["value", "raw", "stopped_at", "fingerprint", "results", "fault"])
def test_a_record_that_lacks_a_field_is_an_error(key):
    lacking = record()
    del lacking[key]

    with pytest.raises(ValueError, match="record"):
        verdict_from_dict(lacking)
    with pytest.raises(ValueError, match="record"):
        verdict_from_dict([lacking])
