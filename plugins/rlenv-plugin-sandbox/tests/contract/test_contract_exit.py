"""How programs end, what they left on their standard streams, and what they used."""

from __future__ import annotations

import time
from typing import Any

import pytest
from rlenv.sandbox import Session


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("pass", 0),
        ("import sys; sys.exit(3)", 3),
        ("raise SystemExit", 0),
        ("import sys; sys.exit('words')", 1),
        ("1 / 0", 1),
        ("def (", 1),
        ("x = '\ud800'", 1),
        ("x = 1\0", 1),
    ],
)
def test_the_status_is_that_of_the_interpreter(box: Any, program: str, status: int) -> None:
    end = box.end(program)

    assert (end.status, end.reason, end.started, end.fault) == (status, "exit", True, None)
    assert end.isolation == box.tier


def test_an_abrupt_end_has_its_status_too(box: Any) -> None:
    box.needs("kill")

    assert box.end("import os; os._exit(7)").status == 7


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGABRT"])
def test_a_signal_is_told_as_its_negative_number(box: Any, name: str) -> None:
    box.needs("kill", "fresh")
    end = box.end(
        f"import os, signal; n = signal.{name}; signal.signal(n, signal.SIG_DFL) if n != 9 else 0;"
        "os.kill(os.getpid(), n); os.abort()"
    )

    assert end.status is not None
    assert end.status < 0
    assert (end.reason, end.fault) == ("signal", None)


def test_output_and_errors_are_kept_apart(box: Any) -> None:
    end = box.end("import sys; print('out'); print('err', file=sys.stderr); os = 1 / 0")

    assert end.stdout == b"out\n"
    assert end.stderr.startswith(b"err\n")
    assert b"ZeroDivisionError" in end.stderr
    assert end.truncated is False


def test_what_exceeds_the_limit_of_output_is_dropped(box: Any) -> None:
    end = box.end("print('x' * 50000)", output_bytes=1000)

    assert end.stdout == b"x" * 1000
    assert (end.status, end.truncated) == (0, True)


def test_output_of_any_bytes_survives(box: Any) -> None:
    end = box.end("import os; os.write(1, bytes(range(256)) * 300)")

    assert end.stdout == bytes(range(256)) * 300


def test_standard_input_is_what_was_given(box: Any) -> None:
    given = b"12 34\n" + b"y" * 300_000
    end = box.end("a = input(); import sys; print(a, len(sys.stdin.read()))", stdin=given)

    assert end.stdout == b"12 34 300000\n"


def test_standard_input_that_nobody_reads_holds_nothing_up(box: Any) -> None:
    assert box.end("pass", stdin=b"z" * 2_000_000).status == 0


def test_standard_input_is_empty_by_default(box: Any) -> None:
    assert box.end("import sys; print(repr(sys.stdin.read()))").stdout == b"''\n"


def test_the_wall_limit_ends_a_sleeper(box: Any) -> None:
    box.needs("kill")
    end = box.end("import time; time.sleep(300)", wall_s=0.5)

    assert (end.reason, end.fault) == ("wall", None)
    assert 0.4 < end.wall < 300


def test_finish_kills_what_still_runs_after_its_wait(box: Any) -> None:
    box.needs("kill")

    async def talk(session: Session) -> Any:
        program = "import os, time; print('up', flush=True); os.write(3, bytes(4)); time.sleep(60)"
        await session.start(program, {})
        assert await session.recv(1, 60) == b""  # it has printed
        return await session.finish(0.5)

    end = box.drive(talk)
    assert (end.reason, end.fault, end.stdout) == ("killed", None, b"up\n")


def test_the_limit_of_cpu_ends_a_loop(box: Any) -> None:
    box.needs("kill", "limits")
    end = box.end("while True: pass", cpu_s=1.0)

    assert (end.reason, end.fault) == ("cpu", None)
    assert end.cpu >= 0.8


# Work and no time, since in gVisor a program's clock of CPU time goes on while others have the
# processor.
WORK = "for _ in range(6_000_000): pass"


def seconds_of_work() -> float:
    """The CPU time of it here."""
    started = time.thread_time()
    exec(WORK, {})
    return time.thread_time() - started


def test_the_cpu_of_a_program_and_of_its_children_is_counted(box: Any) -> None:
    box.needs("fresh")
    alone = box.end(WORK)
    both = box.end(
        f"import os\n{WORK}\nif not os.fork():\n    exec({WORK!r}); os._exit(0)\nos.wait()"
    )
    seconds = min(seconds_of_work() for _ in range(5))

    assert 0.7 * seconds < alone.cpu < 5
    assert 0.7 * seconds < both.cpu - alone.cpu < 5
    assert both.wall >= seconds


def test_memory_beyond_the_limit_ends_the_program_or_is_an_error_in_it(box: Any) -> None:
    box.needs("limits")
    end = box.end("x = bytearray(400 << 20)\nprint('got it')", memory_mb=128)

    assert end.stdout == b""
    assert end.status != 0
    assert end.fault is None
    assert end.reason == "memory" or b"MemoryError" in end.stderr


def test_peak_memory_is_measured(box: Any) -> None:
    box.needs("limits")
    end = box.end("x = bytearray(b'1') * (64 << 20)", memory_mb=256)

    assert end.status == 0
    assert 60 << 20 < end.peak_memory < 400 << 20


def test_the_session_goes_on_after_every_kind_of_end(box: Any) -> None:
    box.needs("kill")

    async def talk(session: Session) -> list[Any]:
        ends = []
        for program in ("1/0", "import os; os._exit(3)", "import time; time.sleep(60)", "print(1)"):
            await session.start(program, {}, wall_s=0.4 if "sleep" in program else None)
            ends.append(await session.finish())
        return [(end.status, end.fault) for end in ends[:2]] + [ends[2].reason, ends[3].stdout]

    assert box.drive(talk) == [(1, None), (3, None), "wall", b"1\n"]


NAMES = """
import os, sys
given = open("/dev/stdin").read()
assert given == sys.stdin.read() == open("/dev/fd/0").read()
for name, number in (("/dev/stdout", 1), ("/dev/stderr", 2)):
    with open(name, "w") as stream: stream.write(given)
    with open("/dev/fd/%d" % number, "ab", 0) as stream: stream.write(b"more\\n")
print(sorted(os.listdir(".")))
"""


@pytest.mark.parametrize("given", [b"12 34\n", b"", b"y" * 300_000 + b"\n"])
def test_standard_streams_can_be_opened_by_name(box: Any, given: bytes) -> None:
    """JavaScript reads "/dev/stdin"; C reopens its streams; shells write to /dev/stderr."""
    box.needs("fresh")
    end = box.end(NAMES, stdin=given)

    assert (end.status, end.stderr) == (0, given + b"more\n"), end
    assert end.stdout == given + b"more\n[]\n"


def test_a_program_that_reads_its_own_output_ends_all_the_same(box: Any) -> None:
    box.needs("kill")
    end = box.end("print('a', flush=True); print(open('/dev/stdout').read())", wall_s=0.5)

    assert (end.reason, end.fault) == ("wall", None)
