"""The filter of system calls: what honest programs need, and nothing else.

Everything not named is rejected with EPERM, what is newer than the tables with ENOSYS (a C library
then falls back); a call by another architecture's numbers kills.  Namespaces, mounts, sockets but
for pairs, tracing, keys, shared memory by key, message queues, io_uring and bpf are nobody's; other
programs are started by the ``native`` runtime only.

Modes and owners of files may be set: the file systems are nosuid, and no_new_privs holds besides.
"""

from __future__ import annotations

import ctypes
import errno
import struct

from linux import CLONE_NEW, LinuxError, ahead
from syscalls import AUDIT, LAST, TABLES, numbered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Block = list[bytes]

ALLOW = 0x7FFF0000
KILL = 0x80000000
_ERRNO = 0x00050000
DENY = _ERRNO | errno.EPERM
UNKNOWN = _ERRNO | errno.ENOSYS
PRETEND = _ERRNO  # says that it is done, and does nothing

_FILES = """
access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2
fallocate fchdir fchmod fchmodat fchown fchownat fdatasync fgetxattr flistxattr fstat fstatfs fsync
ftruncate futimesat getcwd getdents getdents64 getxattr lchown lgetxattr link linkat listxattr
llistxattr lseek lstat mkdir mkdirat newfstatat open openat openat2 pipe pipe2 pread64 preadv
pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv rename renameat renameat2 rmdir
sendfile splice stat statfs symlink symlinkat sync_file_range tee truncate umask unlink unlinkat
utime utimensat utimes write writev
"""
_MEMORY = "brk mlock mlock2 mmap mprotect mremap msync munlock munmap"
_WAITING = """
epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 poll
ppoll pselect6 select timerfd_create timerfd_gettime timerfd_settime
"""
_SOCKETS = "getpeername getsockname shutdown"
_SIGNALS = """
alarm getitimer kill pause pidfd_open pidfd_send_signal restart_syscall rt_sigaction rt_sigpending
rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo
setitimer sigaltstack signalfd signalfd4 tgkill timer_create timer_delete timer_getoverrun
timer_gettime timer_settime tkill
"""
_PROCESSES = """
capget exit exit_group fork futex futex_waitv get_robust_list getcpu getegid geteuid getgid
getgroups getpgid getpgrp getpid getppid getpriority getresgid getresuid getrlimit getrusage getsid
gettid getuid membarrier rseq sched_get_priority_max sched_get_priority_min sched_getaffinity
sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_yield set_robust_list
set_tid_address setpgid setsid times uname vfork wait4 waitid
"""
_CLOCKS = "clock_getres clock_gettime clock_nanosleep getrandom gettimeofday nanosleep time"
ALLOWED = (_FILES + _MEMORY + _WAITING + _SOCKETS + " " + _SIGNALS + _PROCESSES + _CLOCKS).split()
# Flushing other people's disks is not theirs; a program that could make itself slow by rank or
# place could have a machine blamed for its own time limit. What is in the page cache is
# everybody's: dropping it would tell others of this run.
PRETENDED = ["fadvise64", "sched_setaffinity", "setpriority", "sync", "syncfs"]
_ATTRIBUTES = ["fremovexattr", "fsetxattr", "lremovexattr", "lsetxattr", "removexattr", "setxattr"]

_IOCTLS = numbered("""
0x5401 TCGETS 0x540F TIOCGPGRP 0x5413 TIOCGWINSZ 0x541B FIONREAD 0x5421 FIONBIO 0x5450 FIONCLEX
FIOCLEX
""")
_FORGED = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: typing on somebody's terminal
_PRCTLS = numbered("""
1 SET_PDEATHSIG GET_PDEATHSIG GET_DUMPABLE 15 SET_NAME GET_NAME 23 CAPBSET_READ 29 SET_TIMERSLACK
GET_TIMERSLACK 38 SET_NO_NEW_PRIVS GET_NO_NEW_PRIVS 41 SET_THP_DISABLE GET_THP_DISABLE 0x53564D41
SET_VMA
""")
_ARCH_PRCTLS = (0x1001, 0x1002, 0x1003, 0x1004, 0x1021, 0x1022, 0x1023, 0x3001)  # FS, GS, AMX, CET
_SOL_SOCKET = 1
_MSG_OOB = 1
_RLIMIT_CORE = 4
_RWF_NOWAIT = 8
_SOCKET_OPTIONS = numbered("""
2 REUSEADDR TYPE ERROR 7 SNDBUF RCVBUF KEEPALIVE 13 LINGER 16 PASSCRED PEERCRED RCVLOWAT 20
RCVTIMEO SNDTIMEO 30 ACCEPTCONN 38 PROTOCOL DOMAIN
""")  # nothing of filters and pidfds
# Of descriptors, owners of signals, questions for locks, pipes and seals.  Leases, notices of what
# others do in a folder (F_NOTIFY) and hints that stay with an inode (F_SET_RW_HINT) would be
# channels through the system's files.
_FCNTLS = numbered("""
0 DUPFD GETFD SETFD GETFL SETFL GETLK 8 SETOWN GETOWN SETSIG GETSIG 15 SETOWN_EX GETOWN_EX 36
OFD_GETLK 1030 DUPFD_CLOEXEC SETPIPE_SZ GETPIPE_SZ ADD_SEALS GET_SEALS
""")
_LOCKS = numbered("6 SETLK SETLKW 37 OFD_SETLK OFD_SETLKW")
_COLD = (20, 21)  # MADV_COLD, MADV_PAGEOUT: as fadvise64
# plain files and FIFOs, no devices
_FILE_KINDS = (0, 0o010000, 0o100000)
_KIND = 0o170000

_LD = 0x20
_AND = 0x54
_JA = 0x05
_JEQ = 0x15
_JGE = 0x35
_JSET = 0x45
_RET = 0x06


def _op(code: int, k: int, jt: int = 0, jf: int = 0) -> bytes:
    return struct.pack("<HBBI", code, jt, jf, k)


def _ret(action: int) -> Block:
    return [_op(_RET, action)]


def _low(argument: int) -> bytes:
    """Load an argument as the kernel takes an ``int``: of 64 bits the lower half."""
    return _op(_LD, 16 + 8 * argument)


def _high(argument: int) -> bytes:
    return _op(_LD, 20 + 8 * argument)


def _one_of(
    argument: int, values: Sequence[int], otherwise: int, mask: int = 0, then: int = ALLOW
) -> Block:
    """Allow (or whatever ``then`` says) when the argument is one of these."""
    body = [_low(argument)] + ([_op(_AND, mask)] if mask else [])
    body += [_op(_JEQ, value, len(values) - place) for place, value in enumerate(values)]
    return [*body, *_ret(otherwise), *_ret(then)]


def _none_of(argument: int, bits: int, otherwise: int) -> Block:
    """Allow when the argument has none of these bits."""
    return [_low(argument), _op(_JSET, bits, 0, 1), *_ret(otherwise), *_ret(ALLOW)]


def _limits() -> Block:
    """Limits of oneself; that of core files is asked for only: 1 keeps a machine's collector of
    cores out.
    """
    return [
        _low(0),
        _op(_JEQ, 0, 1, 0),
        *_ret(DENY),
        _low(1),
        _op(_JEQ, _RLIMIT_CORE, 1, 0),
        *_ret(ALLOW),
        _low(2),
        _op(_JEQ, 0, 0, 2),
        _high(2),
        _op(_JEQ, 0, 1, 0),
        *_ret(PRETEND),
        *_ret(ALLOW),
    ]


def _socket_option() -> Block:
    return [
        _low(1),
        _op(_JEQ, _SOL_SOCKET, 1, 0),
        *_ret(_ERRNO | errno.ENOPROTOOPT),
        *_one_of(2, list(_SOCKET_OPTIONS.values()), _ERRNO | errno.ENOPROTOOPT),
    ]


def _fcntl(*, shared: bool) -> Block:
    """Locks are pretended where the system's files, and devices, are the machine's own inodes.

    A lock on one would hold up whoever else locks it, and tell other runs of this one.  No filter
    sees which file a descriptor is of, so locks on a program's own files are pretended too.
    """
    if not shared:
        return _one_of(1, [*_FCNTLS.values(), *_LOCKS.values()], _ERRNO | errno.EINVAL)
    locks = list(_LOCKS.values())
    checks = [_op(_JEQ, value, len(locks) - place) for place, value in enumerate(locks)]
    rest = _one_of(1, list(_FCNTLS.values()), _ERRNO | errno.EINVAL)
    return [_low(1), *checks, _op(_JA, 1), *_ret(PRETEND), *rest]


def _special(runtime: str, *, devices: bool, memfd: bool, shared: bool) -> dict[str, Block]:
    """{name: block} of the calls that depend on their arguments or on what runs."""
    execute = _ret(ALLOW if runtime == "native" else DENY)
    ioctl = _one_of(1, list(_IOCTLS.values()), _ERRNO | errno.ENOTTY)
    unsupported = _ERRNO | errno.EOPNOTSUPP
    # Out-of-band bytes on a pair are of use to nobody but those who look for holes in the kernel.
    flags = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3, "recvfrom": 3, "recvmsg": 2, "recvmmsg": 3}
    return {
        "clone": _none_of(0, CLONE_NEW, DENY),
        "clone3": _ret(UNKNOWN),  # its flags lie in memory, where no filter sees them
        # What is in the page cache tells which files others of this machine have read, as
        # mincore would.
        "preadv2": _none_of(5, _RWF_NOWAIT, unsupported),
        # The machine's load and memory.  V8 and glibc size their heaps by it, unchecked; Python has
        # no use for it.
        "sysinfo": execute,
        # When a file was made, and the numbers of mounts, which count on; C libraries fall back
        # to fstatat.
        "statx": _ret(UNKNOWN),
        "fcntl": _fcntl(shared=shared),
        "flock": _ret(PRETEND if shared else ALLOW),
        "madvise": _one_of(2, _COLD, ALLOW, then=PRETEND),
        "execve": execute,
        "execveat": execute,
        "ioctl": _one_of(1, _FORGED, ALLOW, then=DENY) if devices else ioctl,
        "memfd_create": _ret(ALLOW if memfd else DENY),
        "prctl": _one_of(0, list(_PRCTLS.values()), _ERRNO | errno.EINVAL),
        "arch_prctl": _one_of(0, _ARCH_PRCTLS, _ERRNO | errno.EINVAL),
        "prlimit64": _limits(),
        "setrlimit": _one_of(0, (_RLIMIT_CORE,), ALLOW, then=PRETEND),
        "socketpair": _one_of(0, (1,), DENY),  # AF_UNIX
        "getsockopt": _socket_option(),
        "setsockopt": _socket_option(),
        "personality": _one_of(0, (0xFFFFFFFF,), DENY),  # only ask
        "mknod": _one_of(1, _FILE_KINDS, DENY, _KIND),
        "mknodat": _one_of(2, _FILE_KINDS, DENY, _KIND),
        **{name: _none_of(place, _MSG_OOB, unsupported) for name, place in flags.items()},
        **{name: _ret(unsupported) for name in _ATTRIBUTES},
        **{name: _ret(PRETEND) for name in PRETENDED},
        **{name: _ret(ALLOW) for name in ALLOWED},
    }


def _steps(machine: str, special: dict[str, Block]) -> list[tuple[int, Block]]:
    """[(first number, block of instructions)] in order; each holds up to the next one's number."""
    by_number = {number: special.get(name) for name, number in TABLES[machine].items()}
    steps: list[tuple[int, Block]] = []
    for number in range(LAST + 1):
        block = by_number.get(number) or _ret(DENY)
        if not steps or steps[-1][1] != block:
            steps.append((number, block))
    return [*steps, (LAST + 1, _ret(UNKNOWN))]


def _tree(steps: list[tuple[int, Block]]) -> Block:
    """A search for the step that a number falls into."""
    if len(steps) == 1:
        return list(steps[0][1])
    middle = len(steps) // 2
    first = steps[middle][0]
    below = _tree(steps[:middle])
    above = _tree(steps[middle:])
    if len(below) > 255:  # farther than a condition can jump
        return [_op(_JGE, first, 0, 1), _op(_JA, len(below)), *below, *above]
    return [_op(_JGE, first, len(below), 0), *below, *above]


def program(
    machine: str, runtime: str, *, devices: bool = False, memfd: bool = True, shared: bool = True
) -> bytes:
    """The filter as instructions of the kernel's BPF.

    Args:
        machine: "x86_64" or "aarch64".
        runtime: "python", or "native", which may execute.
        devices: whether there are device files that are driven by ioctl.
        memfd: whether files in memory may be made; their size is limited by a control group only.
        shared: whether others use the same kernel, and with it the system's files.

    Raises:
        KeyError: for a machine that has no table.
    """
    special = _special(runtime, devices=devices, memfd=memfd, shared=shared)
    head = [_op(_LD, 4), _op(_JEQ, AUDIT[machine], 1, 0), *_ret(KILL), _op(_LD, 0)]
    if machine == "x86_64":
        head += [_op(_JGE, 0x40000000, 0, 1), *_ret(KILL)]  # x32
    return b"".join([*head, *_tree(_steps(machine, special))])


_SET_MODE_FILTER = 1
_TSYNC = 1


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
    enforce: Callable[[], int]


def prepared(code: bytes) -> _Program:
    """What ``install`` takes, made once."""
    made = _Program(len(code) // 8, code)
    made.enforce = ahead("seccomp", _SET_MODE_FILTER, _TSYNC, ctypes.byref(made))
    return made


def install(made: _Program) -> None:
    """Put this process, all its threads and all it starts under the filter, for good.

    Needs no_new_privs.
    """
    if made.enforce():
        raise LinuxError(errno.EBUSY, "seccomp")  # a thread has a filter of its own
