"""The filter of system calls: what honest programs need, and nothing else.

Everything not named is refused with EPERM, what is newer than the tables with ENOSYS (a C library then
falls back); a call by another architecture's numbers kills.  No program starts others in the ``python``
runtime; namespaces, mounts, sockets but for pairs, tracing, keys, io_uring and bpf are nobody's.
"""

from __future__ import annotations

import ctypes
import errno
import struct

from linux import LinuxError, syscall
from syscalls import AUDIT, LAST, TABLES


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Block = list[bytes]

ALLOW = 0x7FFF0000
KILL = 0x80000000
_ERRNO = 0x00050000
DENY = _ERRNO | errno.EPERM
UNKNOWN = _ERRNO | errno.ENOSYS
SPECIAL = frozenset(
    (
        "clone",
        "clone3",
        "execve",
        "execveat",
        "ioctl",
        "prctl",
        "prlimit64",
        "socketpair",
        "personality",
    )
)

_NAMESPACES = 0x7E020000
_IOCTLS = (
    0x5401,
    0x5413,
    0x540F,
    0x5421,
    0x541B,
    0x5450,
    0x5451,
)  # ask, (non-)block, close on exec
_PRCTLS = (1, 2, 3, 15, 16, 23, 29, 38, 39, 41, 0x53564D41)  # names, questions, less for oneself
_LD, _JEQ, _JGE, _JSET, _RET = 0x20, 0x15, 0x35, 0x45, 0x06


def _op(code: int, k: int, jt: int = 0, jf: int = 0) -> bytes:
    return struct.pack("<HBBI", code, jt, jf, k)


def _ret(action: int) -> Block:
    return [_op(_RET, action)]


def _low(argument: int) -> bytes:
    """Load the low half of an argument."""
    return _op(_LD, 16 + 8 * argument)


def _high(argument: int) -> bytes:
    return _op(_LD, 20 + 8 * argument)


def _one_of(argument: int, values: Sequence[int], otherwise: int) -> Block:
    """Allow when the argument, taken as 32 bits as the kernel takes it, is one of these."""
    count = len(values)
    body = [_low(argument)]
    body += [_op(_JEQ, value, count - place) for place, value in enumerate(values)]
    return [*body, *_ret(otherwise), *_ret(ALLOW)]


def _clone() -> Block:
    """Threads and processes, but no namespaces."""
    return [_low(0), _op(_JSET, _NAMESPACES, 0, 1), *_ret(DENY), *_ret(ALLOW)]


def _zero(argument: int) -> Block:
    """Allow when all 64 bits are 0."""
    return [
        _low(argument), _op(_JEQ, 0, 0, 3), _high(argument), _op(_JEQ, 0, 0, 1), *_ret(ALLOW), *_ret(DENY),
    ]  # fmt: skip


def _special(runtime: str) -> dict[str, Block]:
    execute = _ret(ALLOW if runtime == "native" else DENY)
    return {
        "clone": _clone(),
        "clone3": _ret(UNKNOWN),
        "execve": execute,
        "execveat": execute,
        "ioctl": _one_of(1, _IOCTLS, _ERRNO | errno.ENOTTY),
        "prctl": _one_of(0, _PRCTLS, _ERRNO | errno.EINVAL),
        "prlimit64": _zero(0),  # of oneself
        "socketpair": _one_of(0, (1,), DENY),
        "personality": _one_of(0, (0xFFFFFFFF,), DENY),
    }


def _actions(machine: str, runtime: str) -> list[tuple[int, Block]]:
    """[(first number, block of instructions)] in order; each holds up to the next one's number."""
    table, special = TABLES[machine], _special(runtime)
    by_number = {n: special.get(name) or _ret(ALLOW) for name, n in table.items()}
    deny, unknown = _ret(DENY), _ret(UNKNOWN)
    steps: list[tuple[int, Block]] = []
    for number in range(LAST[machine] + 1):
        block = by_number.get(number, deny)
        if not steps or steps[-1][1] != block:
            steps.append((number, block))
    return [*steps, (LAST[machine] + 1, unknown)]


def _tree(steps: list[tuple[int, Block]]) -> Block:
    """A search for the step that a number falls into."""
    if len(steps) == 1:
        return list(steps[0][1])
    middle = len(steps) // 2
    below, above = _tree(steps[:middle]), _tree(steps[middle:])
    if len(below) > 255:
        raise ValueError("the filter is too long for its jumps")
    return [_op(_JGE, steps[middle][0], len(below), 0), *below, *above]


def program(machine: str, runtime: str) -> bytes:
    """The filter as instructions of the kernel's BPF.

    Raises:
        KeyError: for a machine that has no table.
    """
    head = [_op(_LD, 4), _op(_JEQ, AUDIT[machine], 1, 0), *_ret(KILL), _op(_LD, 0)]
    if machine == "x86_64":
        head += [_op(_JGE, 0x40000000, 0, 1), *_ret(KILL)]  # x32
    return b"".join([*head, *_tree(_actions(machine, runtime))])


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def prepared(code: bytes) -> _Program:
    """What ``install`` takes, made once."""
    return _Program(len(code) // 8, code)


def install(made: _Program) -> None:
    """Put this process and all it starts under the filter, for good.  Needs no_new_privs."""
    syscall("seccomp", 1, 0, ctypes.byref(made))


def supported() -> bool:
    """Whether this kernel filters system calls."""
    try:
        syscall("seccomp", 1, 0, None)
    except LinuxError as error:
        return error.errno == errno.EFAULT
    return True
