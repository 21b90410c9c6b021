"""A function that reads a file which it does not declare is found, with the name of the file."""

from pathlib import Path

import pytest
from rlenv_auditor import audit

REWARD = """
from pathlib import Path
from rlenv import stage

HERE = Path(__file__).parent

@stage(reads=({reads}))
def score(response, answer):
    (HERE / "seen.txt").write_text(response)
    return float(answer in (HERE / "one.txt").read_text() + (HERE / "two.txt").read_text())
"""
ENV = """
name = "e"
[[stage]]
use = "./reward.py:score"
[[task]]
prompt = "Name a fruit."
answer = "apple"
"""


@pytest.mark.parametrize(
    ("reads", "told"),
    [('"one.txt",', {"two.txt"}), ("", {"one.txt", "two.txt"}), ('"one.txt", "two.txt"', set())],
)
def test_a_file_that_a_function_reads_and_does_not_declare_is_found(
    tmp_path: Path, reads: str, told: set[str]
) -> None:
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text("apple")
    (tmp_path / "reward.py").write_text(REWARD.format(reads=reads))
    (tmp_path / "env.toml").write_text(ENV)
    (result,) = audit(str(tmp_path / "env.toml"), only=["files.declared"]).results
    assert result.status == ("found" if told else "clean")
    assert {finding.title.split()[2].rstrip(",") for finding in result.findings} == told
