"""The filter in the kernel: processes that lock themselves in and then try."""

from __future__ import annotations

import os
import shutil
import signal
from types import SimpleNamespace
from typing import Any

import pytest

REFUSED = """
import syscalls
def call(name, *args):
    return attempt(lambda: linux.syscall(name, *args))
text = ctypes.c_char_p(b"/tmp")
tell({
    "namespaces": call("unshare", linux.CLONE_NEWUSER),
    "files apart": call("unshare", 0x400),
    "entering": call("setns", 0, 0),
    "mounting": call("mount", text, text, text, 0, 0),
    "a new root": call("pivot_root", text, text),
    "another root": call("chroot", text),
    "tracing": call("ptrace", 0, 0, 0, 0),
    "another's memory": call("process_vm_readv", os.getpid(), 0, 0, 0, 0, 0),
    "comparing": call("kcmp", os.getpid(), os.getpid(), 0, 0, 0),
    "keys": call("keyctl", 0, -3, 0, 0, 0),
    "a key": call("add_key", text, text, text, 1, -3),
    "bpf": call("bpf", 0, 0, 0),
    "counters": call("perf_event_open", 0, 0, -1, -1, 0),
    "faults": call("userfaultfd", 0),
    "a ring": call("io_uring_setup", 1, 0),
    "old rings": call("io_setup", 1, 0),
    "handles": call("open_by_handle_at", -100, 0, 0),
    "a socket": call("socket", 1, 1, 0),
    "a network": call("socket", 2, 1, 0),
    "the kernel's own": call("socket", 16, 3, 0),
    "virtual machines": call("socket", 40, 1, 0),
    "shared memory": call("shmget", 0, 4096, 0o1600),
    "queues": call("mq_open", text, 0o102, 0o600, 0),
    "watching": call("inotify_init1", 0),
    "another's file": call("pidfd_getfd", 3, 0, 0),
    "hidden memory": call("memfd_secret", 0),
    "a filter": call("seccomp", 1, 0, 0),
    "new mounts": call("fsopen", text, 0),
    "rank": call("sched_setscheduler", 0, 5, text),
    "who I am": call("setresuid", 0, 0, 0),
    "groups": call("setgroups", 0, 0),
    "names": call("sethostname", text, 4),
    "another's limits": call("prlimit64", os.getppid(), 7, 0, 0),
    "a process apart": call("clone", linux.CLONE_NEWUSER | 17, 0, 0, 0, 0),
    "another network pair": call("socketpair", 2, 1, 0, 0),
    "a device": call("mknodat", -100, text, 0o20666, 0x103),
    "another personality": call("personality", 0x0040000),
})
"""


HONEST = """
value, lock = [], threading.Lock()
def add(n):
    with lock: value.append(n)
threads = [threading.Thread(target=add, args=(n,)) for n in range(8)]
[t.start() for t in threads], [t.join() for t in threads]
async def nap():
    await asyncio.sleep(0.001)
    return await asyncio.get_running_loop().run_in_executor(None, sum, value)
with tempfile.TemporaryFile() as file:
    size = file.write(b"x" * 10)
with tempfile.TemporaryDirectory() as folder:
    os.mkfifo(folder + "/pipe")
    with open(folder + "/a", "w") as file: file.write("a")
    shutil.copy2(folder + "/a", folder + "/b")
    (
        os.symlink("a", folder + "/c"),
        os.link(folder + "/a", folder + "/d"),
        os.rename(folder + "/d", folder + "/e"),
    )
    os.chmod(folder + "/a", 0o755)
    names = sorted(os.listdir(folder))
queue = forked.Queue()
child = forked.Process(target=queue.put, args=(5,))
child.start()
got = queue.get()
child.join()
with futures.ProcessPoolExecutor(2, mp_context=forked) as pool:
    squares = list(pool.map(abs, [-1, 2]))
memory = os.memfd_create("m")
os.ftruncate(memory, 4096)
shared = mmap.mmap(memory, 4096)
private = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
left, right = socket.socketpair()
left.settimeout(5)
left.sendall(b"hello")
rang = []
signal.signal(signal.SIGALRM, lambda *_: rang.append(True))
signal.setitimer(signal.ITIMER_REAL, 0.001)
while not rang: time.sleep(0.001)
tell(
    {
        "threads": sum(value),
        "asyncio": asyncio.run(nap()),
        "files": size,
        "names": names,
        "queue": got,
        "pool": squares,
        "pair": right.recv(10).decode(),
        "rang": rang,
        "random": len(os.urandom(4)),
        "nice": os.nice(0) - os.nice(5),
        "processors": os.cpu_count() > 0,
        "limits": resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 0,
        "user": os.getuid() == os.geteuid(),
        "selectors": type(selectors.DefaultSelector()).__name__,
        "wide": shutil.get_terminal_size().columns > 0,
        "tty": os.isatty(0),
        "load": os.uname().sysname,
        "killed": os.kill(os.getpid(), 0),
    }
)
"""
IMPORTS = """
import asyncio, tempfile, shutil, multiprocessing, mmap, selectors, concurrent.futures as futures
import concurrent.futures.process, concurrent.futures.thread
import multiprocessing.queues, multiprocessing.synchronize, multiprocessing.popen_fork
import multiprocessing.connection, multiprocessing.util
forked = multiprocessing.get_context("fork")
asyncio.run(asyncio.sleep(0))
os.chdir(tempfile.mkdtemp(dir=os.getcwd()))
if order["user"]: os.chown(".", order["user"], order["user"])
"""


@pytest.mark.parametrize("runtime", ["python", "native"])
def test_what_is_nobodys_is_refused(locked: Any, user: int, runtime: str) -> None:
    told = locked(REFUSED, runtime=runtime, user=user)
    assert told.status == 0, told
    assert {what: said for what, said in told.only.items() if said != "EPERM"} == {}


def test_everything_refused_by_number_is_refused(guest: SimpleNamespace, locked: Any) -> None:
    """All that the policy does not name, called for real."""
    named = guest.seccomp._special("native", devices=False, memfd=True, shared=True)
    names = [n for n in guest.linux.NUMBERS if n not in named]
    then = f"""
nothing = [ctypes.c_long(-1)] * 6
tell({{name: attempt(lambda: linux.syscall(name, *nothing)) for name in {names!r}}})
"""
    told = locked(then, runtime="native", user=0 if os.getuid() else 65534)
    assert len(told.only) > 100
    assert set(told.only.values()) == {"EPERM"}


def test_what_is_unknown_says_so(locked: Any, user: int) -> None:
    then = """
def raw(number, *args):
    return attempt(lambda: linux.check(linux.libc.syscall(ctypes.c_long(number), *args), "raw"))
tell([raw(435, None, 0), raw(462, 0, 0, 0), raw(9999), raw(451)])
"""
    assert locked(then, runtime="python", user=user).only == ["ENOSYS"] * 4


@pytest.mark.parametrize("runtime", ["python", "native"])
def test_honest_programs_notice_nothing(locked: Any, user: int, runtime: str) -> None:
    told = locked(HONEST, before=IMPORTS, runtime=runtime, user=user)
    assert told.status == 0, told.errors
    assert told.only == {
        "threads": 28,
        "asyncio": 28,
        "files": 10,
        "names": ["a", "b", "c", "e", "pipe"],
        "queue": 5,
        "pool": [1, 2],
        "pair": "hello",
        "rang": [True],
        "random": 4,
        "nice": 0,
        "processors": True,
        "limits": True,
        "user": True,
        "selectors": "EpollSelector",
        "wide": True,
        "tty": False,
        "load": "Linux",
        "killed": None,
    }


def test_python_starts_no_programs(locked: Any, user: int) -> None:
    then = """
tell(
    [
        attempt(lambda: os.execv("/bin/true", ["true"])),
        attempt(lambda: os.posix_spawn("/bin/true", ["true"], {})),
    ]
)
"""
    assert locked(then, runtime="python", user=user).only == ["EPERM", "EPERM"]


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (["/bin/sh", "-c", "echo a b | tr a-z A-Z; (exit 3); echo $?"], "A B\n3\n"),
        (["bash", "-c", "set -o pipefail; sort <<<$'2\n1' | cat | wc -l"], "2\n"),
        (["node", "-e", "Promise.resolve(2).then(v => console.log(v + 1))"], "3\n"),
        (
            ["gcc", "-x", "c", "-o", "made", "-"],
            "",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_native_programs_run(locked: Any, program: list[str], said: str, user: int) -> None:
    if shutil.which(program[0]) is None:
        pytest.skip(f"{program[0]} is not here")
    then = f"""
words = {program!r}
inner, outer = os.pipe(); back, out = os.pipe()
os.write(outer, b"int main(void) {{ return 0; }}"); os.close(outer)
if not os.fork():
    os.dup2(inner, 0); os.dup2(out, 1)
    os.execvp(words[0], words)
os.close(out)
text = b""
while more := os.read(back, 100): text += more
tell([text.decode(), os.wait()[1]])
"""
    told = locked(then, before=IMPORTS, runtime="native", user=user)
    assert told.only == [said, 0], told


def test_calls_by_the_old_gate_kill(guest: SimpleNamespace, locked: Any) -> None:
    if guest.linux.MACHINE != "x86_64":
        pytest.skip("the gate of 32 bits is x86's")
    then = """
import mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")  # getpid, by int 0x80
tell(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
"""
    told = locked(then, runtime="python")
    assert (told.said, told.status) == ([], -signal.SIGSYS)


def test_calls_by_the_numbers_of_x32_kill(guest: SimpleNamespace, locked: Any) -> None:
    if guest.linux.MACHINE != "x86_64":
        pytest.skip("x32 is x86's")
    told = locked("tell(linux.libc.syscall(ctypes.c_long(0x40000027)))", runtime="native")
    assert (told.said, told.status) == ([], -signal.SIGSYS)


def test_children_and_threads_are_under_it_too(locked: Any, user: int) -> None:
    then = """
results = []
def look(): results.append(attempt(lambda: linux.syscall("socket", 2, 1, 0)))
thread = threading.Thread(target=look); thread.start(); thread.join()
gate.set(); early.join()
pid = os.fork()
if not pid:
    look(); os._exit(0 if results[-1] == "EPERM" else 1)
tell([results, os.waitpid(pid, 0)[1]])
"""
    before = """
gate = threading.Event()
def wait_and_look(): gate.wait(); look()
early = threading.Thread(target=wait_and_look); early.start()
"""
    assert locked(then, before=before, runtime="python", user=user).only == [["EPERM"] * 2, 0]


def test_the_limit_of_core_files_stays(locked: Any, user: int) -> None:
    then = """
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))
tell([resource.getrlimit(resource.RLIMIT_CORE), resource.getrlimit(resource.RLIMIT_NOFILE)])
"""
    before = "resource.setrlimit(resource.RLIMIT_CORE, (1, 1))"
    assert locked(then, before=before, runtime="python", user=user).only == [[1, 1], [99, 99]]


def test_it_cannot_be_taken_off(locked: Any, user: int) -> None:
    then = """
tell([attempt(lambda: linux.prctl(22, 2, 0)), attempt(lambda: linux.syscall("seccomp", 0, 0, None)),
      attempt(lambda: linux.prctl(38, 0)), linux.prctl(39)])
"""
    assert locked(then, runtime="python", user=user).only == ["EINVAL", "EPERM", "EINVAL", 1]


def test_a_thread_with_a_filter_of_its_own_stops_the_installation(locked: Any) -> None:
    before = """
linux.no_new_privileges()
made = seccomp.prepared(seccomp.program(linux.MACHINE, "native"))
ready, done = threading.Event(), threading.Event()
def apart():
    linux.syscall("seccomp", 1, 0, ctypes.byref(made)); ready.set(); done.wait()
thread = threading.Thread(target=apart); thread.start(); ready.wait()
"""
    then = "tell(attempt(lambda: seccomp.install(made))); done.set()"
    assert locked(then, before=before, runtime="").only == "EBUSY"
