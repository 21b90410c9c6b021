"""The page on the lines that ``rlenv score`` writes; its keys are compared with those of a real
run.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
from click.testing import CliRunner
from rlenv_cli.app import cli
from rlenv_cli.scores.file import Header
from tables import head, row

ROW = {
    "row": "the number of the response in its file, from 1",
    "task": "the id of its task; null where there is none",
    "response": "the text, or the list of messages, as it was given",
    "reward": "a number in [0, 1]; null exactly when the response could not be scored",
    "passed": "whether the reward reaches the pass mark; null where there is no reward",
    "stopped_at": "the stage whose gate failed, or whose fault ended the pipeline",
    "fault": "why there is no reward: `kind`, `message` and `transient`, else null",
    "stages": "one object per stage that ran, in order",
}
STAGE = {
    "name": "the path of the stage, `parent/child` in a composite",
    "use": "what the configuration named: `plugin/stage`",
    "phase": "what the stage does; null for a composite",
    "score": "a number in [0, 1]; null when the stage broke",
    "weight": "its share in the mean",
    "gate": "the score below which its pipeline ends with 0; null where there is none",
    "penalty": "`penalty * (1 - score)` was taken off",
    "bonus": "`bonus * score` was added, unless the mean was 0",
    "detail": "one line for a reader, fit for a policy to see",
    "data": "facts for a machine, equally fit for a policy",
    "private": "for the operator only: the answer, a difference",
    "steps": "process rewards as `[turn, score]` pairs, else null",
    "fault": "why the stage has no score, as above",
    "seconds": "wall seconds that the stage took",
    "children": "the stages of a composite, each like this one",
}


CHAIN = (
    "## The chain",
    (
        "Where `RLENV_SECRET` is set, the header has a key `chain`, the id of the secret, and each"
        " row ends with a key `mac`: HMAC-SHA256 over the `mac` of the row before (of the first"
        " row: the header's line) and the row's line without its own, of which 32 hexadecimal"
        " digits are kept. `--resume`, `rlenv report`, `rlenv export` and `rlenv select` check it:"
        " a row that was edited, removed, swapped or inserted is an error that names the row. Rows"
        " that are missing at the end are a warning, since an interrupted run leaves such a file:"
        " `responses` in the header says how many rows there are to be.\n"
    ),
    (
        "| `RLENV_SECRET` | a file with a chain | a file without |\n| --- | --- | --- |\n| set | is"
        " checked; made with another secret, it is an error | is an error: edited rows would not be"
        " found |\n| not set | is read unchecked; `--resume` is an error | is read |\n"
    ),
    "A file from before the secret was set is read with `env -u RLENV_SECRET rlenv report ...`.\n",
)


def scores() -> Iterator[str]:
    header, scored = _a_run()
    yield "# The lines of a file of scores"
    yield (
        "`rlenv score` writes JSON lines in ASCII: first a header, then one object per response, in"
        " order.\n"
    )
    yield (
        "`--resume --retry-unscored` asks the rows without a reward again. Their new lines are"
        " written to `OUT.retry`, a file of the same form in which rows are missing; when all are"
        " there, OUT is replaced as a whole, and every response still has one line, in order. What"
        " a killed run leaves in `OUT.retry` is put in by the next `--resume`.\n"
    )
    yield "## The header"
    yield f"```json\n{json.dumps(_short(header), indent=2, ensure_ascii=False)}\n```\n"
    assert set(header) == {"schema", *(f.name for f in attrs.fields(Header))}
    yield (
        "Two runs with equal headers give equal rewards. `fingerprint` names the configuration and"
        " the code. `responses` is the number of rows of the whole run: with fewer, `rlenv report`,"
        " `rlenv export` and `rlenv select` warn that the file is incomplete, and `rlenv select"
        " --min-reward` is not decided.\n"
    )
    yield from CHAIN
    for title, meanings, found in (
        ("A response", ROW, scored),
        ("A stage", STAGE, scored["stages"][0]),
    ):
        assert list(meanings) == list(found), list(found)
        yield f"## {title}"
        yield from head("key", "meaning")
        yield from (row(f"`{key}`", meaning) for key, meaning in meanings.items())
        yield ""
    yield "## An example"
    yield f"```json\n{json.dumps(scored, indent=2)}\n```"


def _a_run() -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the one row of a run of its own."""
    with tempfile.TemporaryDirectory() as folder:
        env, given, out = (Path(folder, name) for name in ("env.toml", "in.jsonl", "out.jsonl"))
        env.write_text(
            'name = "sums"\n[[stage]]\nuse = "core/equal"\n[[task]]\nid = "one"\nprompt = "1 +'
            ' 1?"\nanswer = "2"\n'
        )
        given.write_text('{"task": "one", "response": "2"}\n')
        asked = ["score", str(env), str(given), "-o", str(out), "--quiet"]
        done = CliRunner().invoke(cli, asked, env={"RLENV_SECRET": None})  # without a chain
        assert done.exit_code == 0, done.output
        header, scored = map(json.loads, out.read_text("ascii").splitlines())
    scored["stages"][0]["seconds"] = 0.000005
    return header, scored


def _short(header: Mapping[str, object]) -> dict[str, object]:
    return {
        key: "…" if re.fullmatch(r"[0-9a-f]{64}", str(value)) else value
        for key, value in header.items()
    }
