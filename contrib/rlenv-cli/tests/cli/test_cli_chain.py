"""The chain of a score file: with RLENV_SECRET, rows that changed since they were written are
errors.
"""

import json

import pytest
from rlenv.model.errors import InputError
from rlenv_cli.scores.file import Header, ScoresReader

HEADER = Header("e", "f" * 64, "a" * 64, "b" * 64)


@pytest.fixture(autouse=True)
def secret(monkeypatch):
    monkeypatch.setenv("RLENV_SECRET", "of the chain")


def plain(number, reward=0.0):
    row = {"row": number, "task": "t", "reward": reward, "fault": None, "stages": []}
    return json.dumps(row).encode() + b"\n"


def chained(rows):
    chain = HEADER.chain()
    return [HEADER.line(), *map(chain.link, rows)]


def read(path, **options):
    with ScoresReader(path, **options) as reader:
        return list(reader.rows())


def file(tmp_path, lines):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(lines))
    return path


@pytest.fixture
def lines():
    return chained(plain(number) for number in range(1, 6))


def test_a_file_as_it_was_written_is_read_without_its_codes(tmp_path, lines):
    rows = read(file(tmp_path, lines))

    assert [row["row"] for row in rows] == [1, 2, 3, 4, 5]
    assert all("mac" not in row for row in rows)
    assert all(len(json.loads(line)["mac"]) == 32 for line in lines[1:])


def edited(lines, number, old=b'"reward": 0.0', new=b'"reward": 1.0'):
    return [line.replace(old, new) if at == number else line for at, line in enumerate(lines)]


def renumbered(line, number):
    row = json.loads(line)
    return json.dumps({**row, "row": number}).encode() + b"\n"


CHANGES = {
    "edited": (lambda lines: edited(lines, 3), 3),
    "edited at the end": (lambda lines: edited(lines, 5), 5),
    "removed": (lambda lines: lines[:3] + lines[4:], 3),
    "removed and renumbered": (
        lambda lines: [*lines[:3], renumbered(lines[4], 3), renumbered(lines[5], 4)],
        3,
    ),
    "swapped": (
        lambda lines: [*lines[:2], renumbered(lines[3], 2), renumbered(lines[2], 3), *lines[4:]],
        2,
    ),
    "inserted": (lambda lines: [*lines[:6], renumbered(lines[5], 6)], 6),
    "without its code": (lambda lines: [*lines[:4], plain(4), *lines[5:]], 4),
    "with another header": (lambda lines: edited(lines, 0, b'"env": "e"', b'"env": "x"'), 1),
    "of another file": (
        lambda lines: [*lines[:2], chained([plain(7), plain(2)])[2], *lines[3:]],
        2,
    ),
}


@pytest.mark.parametrize("reading", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_an_error_that_names_the_row(tmp_path, lines, change, reading):
    make, number = CHANGES[change]

    with pytest.raises(InputError) as caught:
        read(file(tmp_path, make(lines)), reading=reading)

    assert f"line {number + 1} " in str(caught.value)
    assert f"sound before it: {number - 1} row" in str(caught.value)


@pytest.mark.parametrize("tail", [b"", b'{"row": 6, "rew', b"garbage\n"])
def test_rows_that_are_cut_off_are_left_out(tmp_path, lines, tail):
    with ScoresReader(file(tmp_path, [*lines[:4], tail])) as reader:
        assert len(list(reader.rows())) == 3
        more = reader.chain.link(plain(4))

    assert more == lines[4]


def test_another_secret_is_named_with_the_remedy(tmp_path, lines, monkeypatch):
    path = file(tmp_path, lines)
    monkeypatch.setenv("RLENV_SECRET", "another")

    with pytest.raises(InputError, match=r"another RLENV_SECRET .* set RLENV_SECRET to the one"):
        read(path)


def test_without_the_secret_a_chain_is_left_unchecked_and_not_gone_on_with(
    tmp_path, lines, monkeypatch
):
    path = file(tmp_path, edited(lines, 3))
    monkeypatch.delenv("RLENV_SECRET")

    assert read(path, reading=True)[2]["reward"] == 1.0
    with pytest.raises(
        InputError, match="set RLENV_SECRET to the one that the file was begun with"
    ):
        read(path)


def test_a_file_without_a_chain_is_read_without_the_secret_alone(tmp_path, monkeypatch):
    monkeypatch.delenv("RLENV_SECRET")
    path = file(tmp_path, chained([plain(1), plain(2)]))

    assert b"mac" not in path.read_bytes()
    assert len(read(path)) == 2
    monkeypatch.setenv("RLENV_SECRET", "of the chain")
    with pytest.raises(InputError, match=r"have no chain.* unset RLENV_SECRET"):
        read(path)


@pytest.mark.parametrize("secret", [None, "of the chain"])
def test_rows_cut_off_at_the_end_are_told_and_scored_again(rlenv, world, monkeypatch, secret):
    """A cut file looks like that of a run that was interrupted, so it is a warning and can be gone
    on with.
    """
    if secret is None:
        monkeypatch.delenv("RLENV_SECRET")
    world.write_env('[[stage]]\nuse = "core/equal"\n')
    world.write_rows([{"task": "t0", "response": "Paris"}] * 5)
    score = ("score", "env.toml", "r.jsonl", "-o", "o.jsonl", "--quiet")
    assert rlenv(*score).exit_code == 0
    out = world.folder / "o.jsonl"
    whole = out.read_bytes()
    out.write_bytes(b"".join(whole.splitlines(keepends=True)[:3]))

    said = rlenv("report", "o.jsonl", "-o", "r.html")

    assert said.exit_code == 0
    assert "incomplete: 2 of 5 rows" in said.output
    assert "incomplete: 2 of 5 rows" in (world.folder / "r.html").read_text()
    assert rlenv(*score, "--resume").exit_code == 0
    assert [row["row"] for row in world.read()[1]] == [1, 2, 3, 4, 5]
    assert "incomplete" not in rlenv("report", "o.jsonl", "-o", "r.html").output


def test_the_number_of_rows_cannot_be_changed_either(tmp_path):
    header = Header("e", "f" * 64, "a" * 64, "b" * 64, responses=5)
    chain = header.chain()
    lines = [header.line(), *map(chain.link, [plain(1), plain(2)])]

    with pytest.raises(InputError, match="line 2 "):
        read(file(tmp_path, edited(lines, 0, b'"responses": 5', b'"responses": 2')))


def test_a_run_that_goes_on_to_more_rows_says_so_in_the_header(rlenv, world):
    world.write_env('[[stage]]\nuse = "core/equal"\n')
    world.write_rows([{"task": "t0", "response": "Paris"}] * 5)
    score = ("score", "env.toml", "r.jsonl", "-o", "o.jsonl", "--quiet")
    out = world.folder / "o.jsonl"

    assert rlenv(*score, "--limit", "2").exit_code == 0
    assert "incomplete" not in rlenv("report", "o.jsonl", "-o", "r.html").output
    assert rlenv(*score, "--resume").exit_code == 0
    header, rows = world.read()
    assert (header["responses"], len(rows)) == (5, 5)

    out.write_bytes(b"".join(out.read_bytes().splitlines(keepends=True)[:5]))
    assert "incomplete: 4 of 5 rows" in rlenv("report", "o.jsonl", "-o", "r.html").output
    assert rlenv(*score, "--resume", "--limit", "4").exit_code == 0
    assert world.read()[0]["responses"] == 5
