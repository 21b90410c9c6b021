"""The output file keeps whole lines through full disks, second writers and vanished folders."""

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest
from rlenv.model.errors import InputError
from rlenv_cli.scoring.durable import DurableFile


def begun(path):
    out = DurableFile(path)
    out.start_at(0)
    return out


def test_lines_are_on_the_disk_within_a_second_without_another_call(tmp_path):
    out = begun(tmp_path / "o")
    out.append(b"one\n")
    deadline = time.monotonic() + 60
    while (tmp_path / "o").read_bytes() != b"one\n":
        assert time.monotonic() < deadline
        time.sleep(0.01)
    out.close()
    assert out.lines == 1


def test_closing_writes_what_is_pending_and_may_happen_twice(tmp_path):
    out = begun(tmp_path / "o")
    for i in range(1000):
        out.append(b"%d\n" % i)
    out.close()
    out.close()
    assert (tmp_path / "o").read_bytes().count(b"\n") == out.lines == 1000


def test_starting_at_a_size_cuts_the_rest(tmp_path):
    (tmp_path / "o").write_bytes(b"one\ntwo\nto")
    out = DurableFile(tmp_path / "o")
    out.start_at(8)
    out.append(b"three\n")
    out.close()
    assert (tmp_path / "o").read_bytes() == b"one\ntwo\nthree\n"


def test_a_second_writer_is_refused_until_the_first_is_done(tmp_path):
    first = begun(tmp_path / "o")
    with pytest.raises(InputError, match=r"another run is writing this file; wait"):
        DurableFile(tmp_path / "o")
    first.close()
    DurableFile(tmp_path / "o").close()


def test_a_second_process_is_refused_too(tmp_path):
    first = begun(tmp_path / "o")
    code = (
        "import sys; from pathlib import Path; from rlenv_cli.scoring.durable import DurableFile;"
        " DurableFile(Path(sys.argv[1]))"
    )
    second = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "o")],
        capture_output=True,
        text=True,
        check=False,
    )
    first.close()
    assert second.returncode == 1
    assert "another run is writing" in second.stderr


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none/o: cannot be written: No such file or directory"):
        DurableFile(tmp_path / "none" / "o")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot be written: Permission denied"):
        DurableFile(tmp_path / "o")


def test_a_full_device_is_reported_and_nothing_counts_as_safe():
    from pathlib import Path

    out = begun(Path("/dev/full"))
    out.append(b"one\n")
    with pytest.raises(OSError, match="No space left"):
        out.close()
    assert out.lines == 0


def test_a_file_that_may_not_grow_keeps_its_whole_lines(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    out = begun(tmp_path / "o")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        for _ in range(30):
            out.append(b"x" * 99 + b"\n")
        with pytest.raises(OSError) as raised:
            out.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert raised.value.errno == errno.EFBIG
    assert (tmp_path / "o").read_bytes() == (b"x" * 99 + b"\n") * 10
    assert out.lines == 10


def test_a_torn_line_at_the_limit_is_cut_off(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    out = begun(tmp_path / "o")
    resource.setrlimit(resource.RLIMIT_FSIZE, (250, hard))
    try:
        for _ in range(5):
            out.append(b"x" * 99 + b"\n")
        with pytest.raises(OSError, match="File too large"):
            out.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (tmp_path / "o").read_bytes() == (b"x" * 99 + b"\n") * 2


def test_a_vanished_folder_is_noticed_though_the_system_says_nothing(tmp_path):
    (tmp_path / "d").mkdir()
    out = begun(tmp_path / "d" / "o")
    out.append(b"one\n")
    shutil.rmtree(tmp_path / "d")
    with pytest.raises(FileNotFoundError, match="removed or replaced"):
        out.close()
    assert out.lines == 0


def test_a_replaced_file_is_noticed(tmp_path):
    out = begun(tmp_path / "o")
    out.append(b"one\n")
    os.replace(shutil.copy(tmp_path / "o", tmp_path / "p"), tmp_path / "o")
    with pytest.raises(FileNotFoundError, match="replaced"):
        out.close()


def test_after_a_failed_write_every_later_line_fails_too(tmp_path):
    from pathlib import Path

    out = begun(Path("/dev/full"))
    with pytest.raises(OSError, match="No space left"):
        out.append(b"x" * (5 << 20) + b"\n")  # more than may be pending: waits for the disk
    with pytest.raises(OSError, match="No space left"):
        out.append(b"more\n")
    with pytest.raises(OSError, match="No space left"):
        out.close()


class Alarm(Exception):
    pass


def ring(_number, _frame):
    raise Alarm


@pytest.mark.parametrize("after", [0.001, 0.004, 0.01, 0.02, 0.04, 0.08])
def test_an_exception_out_of_a_signal_tears_no_line(tmp_path, after):
    out = begun(tmp_path / "o")
    old = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        for i in range(10_000):
            out.append(b"%06d" % i + b"x" * 100_000 + b"\n")
    except Alarm:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    out.close()
    lines = (tmp_path / "o").read_bytes().splitlines(keepends=True)
    assert [int(line[:6]) for line in lines] == list(range(len(lines)))
    assert {len(line) for line in lines} <= {100_007}
    assert out.lines == len(lines)


def test_no_thread_is_left_behind(tmp_path):
    import threading

    out = begun(tmp_path / "o")
    out.close()
    assert not [t for t in threading.enumerate() if t.name == "rlenv-out"]


def test_another_run_never_finds_the_file_unlocked(tmp_path):
    out = DurableFile(tmp_path / "o.jsonl")
    (tmp_path / "fresh").write_bytes(b"fresh\n")
    out.replace(tmp_path / "fresh")
    with pytest.raises(InputError, match="another run is writing"):
        DurableFile(tmp_path / "o.jsonl")
    out.start_at(6)
    out.append(b"more\n")
    out.close()
    assert (tmp_path / "o.jsonl").read_bytes() == b"fresh\nmore\n"
