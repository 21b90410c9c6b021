"""The filter as a program: interpreted here, for both architectures, over every number and
argument.
"""

from __future__ import annotations

import errno
import fcntl
import re
import struct
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

MACHINES = ("x86_64", "aarch64")
RUNTIMES = ("python", "native")
ALLOW = 0x7FFF0000
KILL = 0x80000000
ERRNO = 0x00050000
EPERM = ERRNO | errno.EPERM
ENOSYS = ERRNO | errno.ENOSYS
# Never anybody's, whatever the arguments.
FORBIDDEN = """
accept accept4 acct add_key adjtimex bind bpf chroot clock_adjtime clock_settime connect
delete_module fanotify_init fanotify_mark finit_module fsconfig fsmount fsopen fspick init_module
inotify_add_watch inotify_init1 io_setup io_submit io_uring_enter io_uring_register io_uring_setup
ioperm iopl kcmp kexec_file_load kexec_load keyctl landlock_restrict_self listen lookup_dcookie
mbind memfd_secret migrate_pages modify_ldt mount mount_setattr move_mount move_pages mq_notify
mq_open mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd name_to_handle_at nfsservctl
open_by_handle_at open_tree perf_event_open personality pidfd_getfd pivot_root process_madvise
process_mrelease process_vm_readv process_vm_writev ptrace quotactl quotactl_fd reboot request_key
sched_setattr sched_setparam sched_setscheduler seccomp semctl semget semop set_mempolicy
setdomainname setfsuid setgid setgroups sethostname setns setresgid setresuid settimeofday setuid
shmat shmctl shmget socket swapoff swapon syslog umount2 unshare userfaultfd ustat vhangup vmsplice
"""
HONEST = """
brk clock_gettime close dup3 epoll_create1 epoll_pwait eventfd2 exit exit_group fcntl fstat
ftruncate futex getcwd getdents64 getpid getrandom getrusage kill lseek madvise membarrier mkdirat
mmap mprotect munmap nanosleep newfstatat openat pipe2 ppoll pread64 prlimit64 read readlinkat
renameat2 rseq rt_sigaction rt_sigprocmask rt_sigreturn sched_yield set_robust_list set_tid_address
tgkill timerfd_create uname unlinkat wait4 write writev
"""


def run(code: bytes, number: int, arguments: tuple[int, ...], audit: int) -> tuple[int, int]:
    """(what the kernel would do, how many instructions that took)."""
    data = struct.pack("<IIQ6Q", number, audit, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    steps = list(struct.iter_unpack("<HBBI", code))
    value = 0
    place = 0
    for taken in range(1, len(steps) + 1):
        kind, yes, no, k = steps[place]
        place += 1
        if kind == 0x20:
            value = struct.unpack_from("<I", data, k)[0]
        elif kind == 0x54:
            value &= k
        elif kind == 0x05:
            place += k
        elif kind == 0x06:
            return k, taken
        else:
            met = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[kind]
            place += yes if met else no
    raise AssertionError("it has no end")


class Filter:
    """One filter, asked by the names of calls."""

    def __init__(self, guest: SimpleNamespace, machine: str, runtime: str, **options: bool) -> None:
        self.numbers: dict[str, int] = guest.syscalls.TABLES[machine]
        self.last: int = guest.syscalls.LAST
        self.audit: int = guest.syscalls.AUDIT[machine]
        self.code: bytes = guest.seccomp.program(machine, runtime, **options)

    def number(self, number: int, *arguments: int) -> int:
        return run(self.code, number, arguments, self.audit)[0]

    def __call__(self, name: str, *arguments: int) -> int:
        return self.number(self.numbers[name], *arguments)


@pytest.fixture(scope="session")
def filtered(guest: SimpleNamespace) -> Callable[..., Filter]:
    return cache(lambda machine, runtime, **o: Filter(guest, machine, runtime, **o))


@pytest.fixture(scope="session", params=[(m, r) for m in MACHINES for r in RUNTIMES], ids="-".join)
def kept(request: pytest.FixtureRequest, filtered: Callable[..., Filter]) -> Filter:
    """The filter of each machine and runtime."""
    return filtered(*request.param)


def header_numbers(text: str) -> dict[str, int]:
    """What a header of the kernel says; on machines of 64 bits its names for both widths are
    one.
    """
    found = {m[1]: int(m[2]) for m in re.finditer(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    aliases = re.finditer(r"#define __NR_(\w+)\s+__NR3264_(\w+)", text)
    return found | {m[1]: found[m[2]] for m in aliases if m[2] in found}


@pytest.mark.parametrize(
    ("machine", "header"),
    [
        ("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        ("aarch64", "/usr/include/asm-generic/unistd.h"),
    ],
)
def test_the_numbers_are_the_kernels(guest: SimpleNamespace, machine: str, header: str) -> None:
    if not Path(header).exists():
        pytest.skip(f"{header} is not here; linux-libc-dev brings it")
    said = header_numbers(Path(header).read_text())
    ours = guest.syscalls.TABLES[machine]
    assert {name: said.get(name) for name in ours} == ours
    assert len(set(ours.values())) == len(ours)


def test_every_name_of_the_policy_is_a_call_of_some_machine(guest: SimpleNamespace) -> None:
    known = set().union(*guest.syscalls.TABLES.values())
    policy = guest.seccomp._special("native", devices=False, memfd=True, shared=True)
    assert set(policy) <= known
    assert len(guest.seccomp.ALLOWED) == len(set(guest.seccomp.ALLOWED))
    assert {*FORBIDDEN.split(), *HONEST.split()} <= known


def test_what_is_nobodys_is_refused(kept: Filter) -> None:
    for name in FORBIDDEN.split():
        if name in kept.numbers:
            assert kept(name) == EPERM, name


def test_what_everybody_needs_is_allowed(kept: Filter) -> None:
    for name in HONEST.split():
        assert kept(name) == ALLOW, name


def test_what_is_not_named_is_refused(guest: SimpleNamespace, kept: Filter) -> None:
    named = guest.seccomp._special("native", devices=False, memfd=True, shared=True)
    numbers = {n for name, n in kept.numbers.items() if name in named}
    for number in set(range(kept.last + 1)) - numbers:
        assert kept.number(number) == EPERM, number


def test_what_is_newer_than_the_tables_is_unknown(kept: Filter) -> None:
    beyond = [*range(kept.last + 1, kept.last + 100), 0x3FFFFFFF]
    assert {kept.number(number) for number in beyond} == {ENOSYS}


def test_calls_of_x32_kill(filtered: Callable[..., Filter]) -> None:
    for runtime in RUNTIMES:
        kept = filtered("x86_64", runtime)
        for number in (*range(600), 0x3FFFFFFF):
            assert kept.number(0x40000000 | number) == KILL
        assert kept.number(0xFFFFFFFF) == KILL


@given(audit=st.integers(0, 2**32 - 1), number=st.integers(0, 600))
def test_calls_of_another_architecture_kill(
    filtered: Callable[..., Filter], audit: int, number: int
) -> None:
    for machine in MACHINES:
        kept = filtered(machine, "native")
        if audit != kept.audit:
            assert run(kept.code, number, (), audit)[0] == KILL


def test_only_the_native_runtime_executes(filtered: Callable[..., Filter]) -> None:
    for machine in MACHINES:
        for name in ("execve", "execveat"):
            assert filtered(machine, "python")(name) == EPERM
            assert filtered(machine, "native")(name) == ALLOW


def test_files_in_memory_can_be_refused(filtered: Callable[..., Filter]) -> None:
    for machine in MACHINES:
        assert filtered(machine, "python")("memfd_create") == ALLOW
        assert filtered(machine, "python", memfd=False)("memfd_create") == EPERM


def test_rank_and_place_are_kept_in_silence(kept: Filter) -> None:
    for name in ("fadvise64", "setpriority", "sched_setaffinity", "sync", "syncfs"):
        assert kept(name) == ERRNO


def test_locks_are_pretended_where_files_are_the_machines(filtered: Callable[..., Filter]) -> None:
    for machine in MACHINES:
        for runtime in RUNTIMES:
            shared = filtered(machine, runtime)
            own = filtered(machine, runtime, shared=False)
            assert (shared("flock"), own("flock")) == (ERRNO, ALLOW)
            for command in (fcntl.F_SETLK, fcntl.F_SETLKW, 37, 38):  # F_OFD_SETLK, F_OFD_SETLKW
                assert (shared("fcntl", 3, command), own("fcntl", 3, command)) == (ERRNO, ALLOW)


def test_only_harmless_commands_of_fcntl_are_known(kept: Filter) -> None:
    harmless = "DUPFD DUPFD_CLOEXEC GETFD SETFD GETFL SETFL GETLK GETOWN SETOWN GETSIG SETSIG"
    for name in harmless.split():
        assert kept("fcntl", 3, getattr(fcntl, "F_" + name)) == ALLOW, name
    for command in (1024, 1025, 1026, 1035, 1036, 1037, 1038, 1027, 1028, 17, 5000):
        assert kept("fcntl", 3, command) == ERRNO | errno.EINVAL, command


def test_pages_of_files_are_dropped_in_pretense_only(kept: Filter) -> None:
    for advice in range(32):
        assert kept("madvise", 0, 4096, advice) == (ERRNO if advice in (20, 21) else ALLOW)


def test_statx_is_unknown_so_that_neither_births_nor_mounts_are_seen(kept: Filter) -> None:
    assert kept("statx") == ENOSYS


def test_clone3_is_unknown_so_that_flags_are_seen(kept: Filter) -> None:
    assert kept("clone3") == ENOSYS


# -- arguments: the whole of 64 bits, and what the kernel makes of them
# ------------------------------


def int32(argument: int) -> int:
    return argument & 0xFFFFFFFF


def words(*interesting: int) -> st.SearchStrategy[int]:
    """Arguments of 64 bits, most of them near those that matter, with anything in the upper
    half.
    """
    low = st.sampled_from(interesting) | st.integers(0, 2**32 - 1)
    near = st.builds(lambda value, bit: value ^ 1 << bit, low, st.integers(0, 31))
    return st.builds(lambda h, x: h << 32 | x, st.sampled_from((0, 1, 2**32 - 1)), low | near)


NAMESPACES = (1 << 17, 1 << 25, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30)
IOCTLS = (0x5401, 0x5413, 0x540F, 0x5421, 0x541B, 0x5450, 0x5451)


@given(flags=words(0x3D0F00, 0x1200011, 17, 0x4111, *NAMESPACES))
def test_no_process_begins_in_namespaces_of_its_own(kept: Filter, flags: int) -> None:
    wanted = any(flags & bit for bit in NAMESPACES)
    assert kept("clone", flags) == (EPERM if wanted else ALLOW)


@given(request=words(*IOCTLS, 0x5412, 0x541C, 0x8905, 0x40049409), file=words(0, 1))
def test_only_harmless_ioctls_pass(kept: Filter, request: int, file: int) -> None:
    wanted = ALLOW if int32(request) in IOCTLS else ERRNO | errno.ENOTTY
    assert kept("ioctl", file, request) == wanted


@given(request=words(*IOCTLS, 0x5412, 0x541C))
def test_devices_take_every_ioctl_but_typing(filtered: Callable[..., Filter], request: int) -> None:
    for machine in MACHINES:
        kept = filtered(machine, "python", devices=True)
        assert kept("ioctl", 3, request) == (EPERM if int32(request) in (0x5412, 0x541C) else ALLOW)


@given(option=words(*range(1, 80), 0x53564D41, 0x59616D61))
def test_only_harmless_prctls_pass(kept: Filter, option: int) -> None:
    harmless = {1, 2, 3, 15, 16, 23, 29, 30, 38, 39, 41, 42, 0x53564D41}
    wanted = ALLOW if int32(option) in harmless else ERRNO | errno.EINVAL
    assert kept("prctl", option) == wanted


@given(pid=words(0, 1, 2, 2**32 - 1), what=words(0, 4, 7, 9), new=words(0, 1) | st.just(1 << 32))
def test_limits_are_ones_own_and_no_core_is_written(
    kept: Filter, pid: int, what: int, new: int
) -> None:
    asked = ERRNO if int32(what) == 4 and new else ALLOW
    assert kept("prlimit64", pid, what, new, 5) == (asked if int32(pid) == 0 else EPERM)
    assert kept("setrlimit", what, 5) == (ERRNO if int32(what) == 4 else ALLOW)


@given(family=words(0, 1, 2, 10, 16, 17, 40), kind=words(1, 2, 5))
def test_pairs_are_of_the_machine_itself(kept: Filter, family: int, kind: int) -> None:
    assert kept("socketpair", family, kind) == (ALLOW if int32(family) == 1 else EPERM)


@given(level=words(0, 1, 6, 41), option=words(*range(90)))
def test_options_of_pairs_are_the_plain_ones(kept: Filter, level: int, option: int) -> None:
    plain = {2, 3, 4, 7, 8, 9, 13, 16, 17, 18, 20, 21, 30, 38, 39}
    fine = int32(level) == 1 and int32(option) in plain
    for name in ("getsockopt", "setsockopt"):
        assert kept(name, 3, level, option) == (ALLOW if fine else ERRNO | errno.ENOPROTOOPT)


@given(flags=words(0, 1, 0x40, 0x4000, 0x41))
def test_nothing_goes_out_of_band(kept: Filter, flags: int) -> None:
    wanted = ERRNO | errno.EOPNOTSUPP if flags & 1 else ALLOW
    for name in ("sendmsg", "recvmsg"):
        assert kept(name, 3, 5, flags) == wanted
    for name in ("sendto", "recvfrom", "sendmmsg", "recvmmsg"):
        assert kept(name, 3, 5, 5, flags) == wanted


@given(persona=words(0xFFFFFFFF, 0, 0x0040000, 8))
def test_the_personality_is_only_asked_for(kept: Filter, persona: int) -> None:
    assert kept("personality", persona) == (ALLOW if int32(persona) == 0xFFFFFFFF else EPERM)


@given(mode=words(0, 0o644, 0o010644, 0o100644, 0o020644, 0o060644, 0o140644))
def test_nodes_are_files_and_fifos(kept: Filter, mode: int) -> None:
    fine = mode & 0o170000 in (0, 0o010000, 0o100000)
    assert kept("mknodat", 3, 5, mode) == (ALLOW if fine else EPERM)
    if "mknod" in kept.numbers:
        assert kept("mknod", 5, mode) == (ALLOW if fine else EPERM)


@given(code=words(0x1001, 0x1002, 0x1012, 0x2001, 0x3001, 0x4001, 0x5001))
def test_segments_are_ones_own(filtered: Callable[..., Filter], code: int) -> None:
    harmless = {0x1001, 0x1002, 0x1003, 0x1004, 0x1021, 0x1022, 0x1023, 0x3001}
    wanted = ALLOW if int32(code) in harmless else ERRNO | errno.EINVAL
    assert filtered("x86_64", "python")("arch_prctl", code) == wanted


ANY = st.integers(0, 2**64 - 1)


@given(arguments=st.tuples(ANY, ANY, ANY, ANY, ANY, ANY))
def test_no_argument_opens_what_is_nobodys(kept: Filter, arguments: tuple[int, ...]) -> None:
    for name in (
        "unshare",
        "setns",
        "mount",
        "ptrace",
        "socket",
        "bpf",
        "io_uring_setup",
        "keyctl",
    ):
        assert kept(name, *arguments) == EPERM


# -- the program itself
# -----------------------------------------------------------------------------


def after(place: int, step: tuple[int, int, int, int]) -> Iterator[int]:
    kind, yes, no, k = step
    if kind == 0x06:
        return
    if kind == 0x05:
        yield place + 1 + k
    elif kind & 7 == 5:
        yield place + 1 + yes
        yield place + 1 + no
    else:
        yield place + 1


def test_every_jump_lands_in_the_program(kept: Filter) -> None:
    steps = list(struct.iter_unpack("<HBBI", kept.code))
    assert len(steps) < 4096
    reached = {0}
    for place, step in enumerate(steps):
        if place in reached:
            targets = set(after(place, step))
            assert max(targets, default=0) < len(steps)
            reached |= targets
    assert reached == set(range(len(steps))), "no instruction is dead"


def test_the_search_is_short(kept: Filter) -> None:
    lengths = [run(kept.code, number, (), kept.audit)[1] for number in range(kept.last + 2)]
    assert max(lengths) <= 40
    assert sum(lengths) / len(lengths) <= 16
