"""What a program in the jail finds of the machine, and what it cannot do."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError

ATTEMPTS = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def attempt(name, call):
    try:
        result = call()
    except (OSError, ValueError, AttributeError):
        return
    if isinstance(result, int) and result < 0:
        return
    print(name, result)
"""


def attempts(cell: Any, lines: str, **options: Any) -> bytes:
    end = cell.end(ATTEMPTS + lines, **options)
    assert end.status == 0, end.stderr
    stdout: bytes = end.stdout
    return stdout


def test_the_root_holds_programs_and_libraries_and_nothing_else(
    cell: Any, below_tmp: list[str]
) -> None:
    said = attempts(cell, "print(sorted(os.listdir('/')))").decode()

    for name in ("proc", "sys", "home", "root/.ssh", "var", "run", "mnt", "srv", "boot"):
        assert f"'{name}'" not in said
    look = "print(os.path.exists('/etc/shadow'), os.listdir('/tmp'))"
    assert attempts(cell, look).decode() == f"False {below_tmp}\n"


def test_a_program_is_the_first_process_and_has_no_rights(cell: Any) -> None:
    assert attempts(cell, "print(os.getpid(), os.getppid())") == b"1 0\n"
    assert (
        attempts(
            cell,
            "attempt('setuid', lambda: libc.setresuid(0, 0, 0) if os.getuid() else -1)\n"
            "attempt('mount', lambda: libc.mount(b'x', b'/tmp', b'tmpfs', 0, None))\n"
            "attempt('umount', lambda: libc.umount2(b'/tmp', 2))\n"
            "attempt('unshare', lambda: libc.unshare(0x10000000))\n"
            "attempt('chroot', lambda: os.chroot('/tmp'))\n"
            "attempt('hostname', lambda: libc.sethostname(b'x', 1))\n"
            "attempt('ptrace', lambda: libc.ptrace(0, 0, 0, 0))\n"
            "attempt('keyctl', lambda: libc.syscall(250, 0, -3, 1))\n"
            "attempt('io_uring', lambda: libc.syscall(425, 8, ctypes.create_string_buffer(256)))\n"
            "attempt('bpf', lambda: libc.syscall(321, 0, 0, 0))\n"
            "attempt('socket', lambda: socket.socket(socket.AF_INET).fileno())\n"
            "attempt('unix', lambda: socket.socket(socket.AF_UNIX).fileno())\n"
            "attempt('execve', lambda: os.execv('/bin/sh', ['sh', '-c', 'echo ran']))\n",
        )
        == b""
    )


def test_nothing_that_is_written_can_be_executed_by_a_python_program(cell: Any) -> None:
    said = (
        attempts(
            cell,
            "open('x.so', 'wb').write(open(ctypes.util.find_library('c') or"
            " '/lib/x86_64-linux-gnu/libc.so.6', 'rb').read())\nattempt('map', lambda:"
            " str(ctypes.CDLL('./x.so')))\n".replace("ctypes.util.find_library('c') or ", ""),
        )
        if __import__("os").path.exists("/lib/x86_64-linux-gnu/libc.so.6")
        else b""
    )

    assert said == b""


def test_the_mounts_of_the_room_cannot_be_written(cell: Any) -> None:
    assert (
        attempts(
            cell,
            "for place in ('/', '/usr', '/box', '/dev', '/etc', '/lib'):\n"
            "    attempt(place, lambda: os.open(place + '/evil', os.O_CREAT | os.O_WRONLY))\n"
            "    attempt(place, lambda: str(os.mkdir(place + '/evil')))\n",
            files={"given.txt": b"x"},
        )
        == b""
    )


def test_the_working_directory_has_an_end(cell: Any, below_tmp: list[str]) -> None:
    program = (
        "try:\n    with open('big', 'wb') as f:\n        for _ in range(600): f.write(b'x' * (1 <<"
        " 20))\nexcept OSError as error: print(error.errno)\n"
    )

    assert cell.end(program, memory_mb=128).stdout in (b"28\n", b"27\n")
    after = cell.end("import os; print(os.listdir('.'))", memory_mb=128)
    assert after.stdout.decode() == f"{below_tmp}\n"


@pytest.mark.parametrize(
    "touch",
    [
        "open('left', 'w').close(); os.unlink('left')",
        "os.mkdir('left'); os.chmod('left', 0)",
        "os.symlink('/etc/passwd', 'left')",
        "open('/dev/shm/left', 'w').close()",
        "os.mkdir('a'); os.rename('a', 'b')",
    ],
)
def test_a_run_that_touched_the_working_directory_is_followed_by_a_new_one(
    cell: Any, touch: str
) -> None:
    look = (
        "import os; s = os.stat('.'); print(os.listdir('.'), s.st_mtime_ns, oct(s.st_mode),"
        " os.umask(0))"
    )
    before = cell.end(look).stdout
    assert cell.end(f"import os; {touch}; os.utime('.') if os.getuid() == 0 else 0").status == 0

    assert cell.end(look).stdout == before


def test_the_source_of_standard_input_has_its_usual_name(cell: Any) -> None:
    end = cell.end("print(open('/dev/stdin').read(), input())", stdin=b"given")

    assert end.stdout == b"given given\n", end.stderr


def test_an_interpreter_is_as_programs_know_it(cell: Any) -> None:
    end = cell.end("import sys, os\nprint(sys.argv, __name__, sys.path[1:2], os.getcwd())\nexit(3)")

    assert (end.status, end.stdout) == (3, b"['main.py'] __main__ ['/tmp'] /tmp\n")
    assert cell.end("import child").status == 1
    assert cell.end("import helper; print(helper.x)", {"helper.py": b"x = 5"}).stdout == b"5\n"


def test_a_traceback_shows_the_program_and_nothing_of_us(cell: Any) -> None:
    said = cell.end("def f():\n    return 1 / 0\nf()").stderr.decode()

    assert "ZeroDivisionError" in said
    assert "rlenv" not in said


def test_a_native_program_runs_what_it_wrote_and_pipes_end_as_usual(cell: Any) -> None:
    words = ["/bin/sh", "-c", "yes | head -n 1; cp /bin/true ./t && ./t && echo ran; echo $HOME"]
    end = cell.end(words, runtime="native")

    assert end.stdout == b"y\nran\n/tmp\n", end


def test_installed_packages_are_seen_only_where_the_profile_names_them(cell: Any) -> None:
    look = (
        "import glob, sys\n"
        "print([path for base in (sys.base_prefix, '/usr', '/usr/local')\n"
        "    for path in glob.glob(base + '/lib*/python3*/*-packages/*')][:3])\n"
    )

    assert cell.end(look).stdout == b"[]\n"
    end = cell.end("import sys; print(sys.modules['attrs'].__name__)", preload=("attrs",))
    assert end.stdout == b"attrs\n", end.stderr


def test_a_local_module_is_shown_without_its_neighbors(
    cell: Any, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rlenv_plugin_sandbox.jail import setup

    folder = Path("/var/tmp") / f"rlenv-test-{tmp_path_factory.getbasetemp().name}"
    folder.mkdir(exist_ok=True)
    try:
        (folder / "local_helper.py").write_text("word = 'found'")
        (folder / "tests.jsonl").write_text("secret")
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        monkeypatch.syspath_prepend(str(folder))
        look = f"import os, local_helper; print(local_helper.word, os.listdir({str(folder)!r}))"
        end = cell.end(look, preload=("local_helper",))
    finally:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        setup.shown.cache_clear()
        setup.packages.cache_clear()

    assert end.stdout == b"found ['local_helper.py']\n", end.stderr


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[Path]:
    """A folder below /tmp with a file in it."""
    folder = Path(tempfile.mkdtemp(prefix="rlenv shown é ", dir="/tmp"))
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "data.txt").write_text("found")
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)  # whatever the umask
    yield folder
    shutil.rmtree(folder)


def test_what_lies_below_tmp_is_shown_at_its_place(cell: Any, shown: Path) -> None:
    end = cell.end(
        f"print(open({str(shown / 'deep/er/data.txt')!r}).read())\n"
        "import os; print(os.path.exists('/tmp/deep'))",
        paths=(str(shown / "deep" / "er"),),
    )
    listed = cell.end(
        ["/bin/cat", str(shown / "deep/er/data.txt")], runtime="native", paths=(str(shown),)
    )

    assert end.stdout == b"found\nFalse\n", end.stderr
    assert listed.stdout == b"found", listed.stderr


def test_no_program_changes_what_is_shown_below_tmp_for_the_next(
    cell: Any, shown: Path, below_tmp: list[str]
) -> None:
    top = str(shown)
    inner = str(shown / "deep/er")
    tries = f"""
import os
for do in (
    lambda: os.rename({top!r}, "/tmp/moved"),
    lambda: os.rmdir({top!r}),
    lambda: os.chmod({top!r}, 0o777),
    lambda: os.rename({top!r} + "/deep", {top!r} + "/d"),
    lambda: open({top!r} + "/new", "w"),
    lambda: open({inner!r} + "/data.txt", "w"),
    lambda: os.unlink({inner!r} + "/data.txt"),
    lambda: os.utime({top!r}),
    lambda: os.symlink("/etc", {inner!r} + "/s"),
):
    try:
        print("DONE", do())
    except OSError:
        pass
open('/tmp/left', 'w').close()
"""
    look = f"import os; print(sorted(os.listdir('.')), os.listdir({top!r}), os.listdir({inner!r}))"
    assert cell.end(tries, paths=(inner,)).stdout == b""

    names = sorted([shown.name, *below_tmp])
    for _ in range(2):
        said = cell.end(look, paths=(inner,)).stdout.decode()
        assert said == f"{names} ['deep'] ['data.txt']\n"


def test_a_file_of_a_run_that_is_named_as_what_is_shown_is_refused(cell: Any, shown: Path) -> None:
    with pytest.raises(ConfigError, match="give the file another name"):
        cell.end("pass", {f"{shown.name}/x": b""}, paths=(str(shown),))


@pytest.mark.parametrize(
    ("path", "why"),
    [("/tmp", "their own /tmp"), ("/dev/shm", "their own"), ("/tmp/none", "does not exist")],
)
def test_places_that_cannot_be_shown_are_told(cell: Any, path: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        cell.end("pass", paths=(path,))


def test_what_programs_could_not_read_is_told_with_the_remedy(
    cell: Any, shown: Path, root: None
) -> None:
    (shown / "deep").chmod(0o700)
    with pytest.raises(ConfigError, match="chmod -R a\\+rX '/tmp/rlenv shown"):
        cell.end("pass", paths=(str(shown / "deep"),))


def test_a_umask_of_ours_hides_nothing_from_programs(cell: Any, shown: Path) -> None:
    inner = str(shown / "deep/er")
    before = os.umask(0o077)
    try:
        end = cell.end(f"print(open({inner!r} + '/data.txt').read())", paths=(inner,))
    finally:
        os.umask(before)

    assert end.stdout == b"found\n", end.stderr
