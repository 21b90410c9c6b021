"""Arguments as kernels take them: held against what numba passes, and against what its compiler
expects.
"""

from __future__ import annotations

import ctypes
import re
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv_plugin_cuda.building.toolchain import toolchain
from rlenv_plugin_cuda.gpu.abi import Mismatch, Passed, c_words, numba_words
from rlenv_plugin_cuda.gpu.plans import SHARED_BYTES, THREADS
from rlenv_plugin_cuda.planning.values import Trouble, configured

PARAMETER = re.compile(r"\.param \.(?:align \d+ )?([busf])(\d+)")


def sizes(words: list[Any]) -> list[int]:
    return [8 if isinstance(word, int) else len(word) // 2 for word in words]


def test_an_array_of_two_dimensions_is_nine_words() -> None:
    words = numba_words([Passed(3, "f4", 4, (5, 7))])
    numbers = [
        word if isinstance(word, int) else int.from_bytes(bytes.fromhex(word), "little")
        for word in words
    ]
    assert numbers == [0, 0, 35, 4, 3, 5, 7, 28, 4]


def test_words_are_those_that_numba_itself_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba
    import numpy as np
    from numba.cuda import dispatcher

    address = 0x7F0012345678
    array = np.zeros((3, 4, 5), "f8")
    monkeypatch.setattr(
        dispatcher, "wrap_arg", lambda value: SimpleNamespace(to_device=lambda *_: value)
    )
    monkeypatch.setattr(
        dispatcher,
        "driver",
        SimpleNamespace(device_pointer=lambda _: address, USE_NV_BINDING=False),
    )
    kernel = SimpleNamespace(extensions=[])
    given_: list[Any] = [array, -7, 1 << 63, 2.5, True, 1.5 - 2j]
    theirs: list[Any] = []
    for value in given_:
        kind = numba.typeof(value)  # type: ignore[no-untyped-call]
        dispatcher._Kernel._prepare_args(kernel, kind, value, 0, [], theirs)
    mine = numba_words([Passed(0, "f8", 8, array.shape), *given_[1:]])
    assert [bytes(word) for word in theirs] == [
        address.to_bytes(8, "little") if isinstance(word, int) else bytes.fromhex(word)
        for word in mine
    ]
    assert ctypes.sizeof(theirs[0]) == 8


@pytest.mark.skipif(not toolchain().nvvm, reason="libNVVM is not installed")
def test_the_compiler_of_numba_expects_words_of_these_sizes() -> None:
    """In a process of its own: numba's compiler is found by the environment there."""
    import os
    import subprocess
    import sys

    code = """
import sys
sys.path.insert(0, sys.argv[1])
from numba import cuda, types
from kernel_numba import aimed
aimed((9, 0))
def k(a, n, x, b, c, o):
    o[0, 0] = a[0] + n + x + b + c.real
A = types.Array
scalars = (types.int64, types.float64, types.boolean, types.complex128)
given = (A(types.float32, 1, 'C'), *scalars, A(types.float64, 2, 'C'))
print(cuda.compile_ptx(k, given, cc=(9, 0))[0])
"""
    folder = os.path.join(
        os.path.dirname(os.path.dirname(__file__)), "src", "rlenv_plugin_cuda", "guest"
    )
    where = (
        "import sys, types\n"
        "w = types.ModuleType('kernel_where')\n"
        f"w.PATHS = {{'nvrtc': '', 'builtins': [], 'nvvm': {toolchain().nvvm!r}, 'libdevice':"
        f" {toolchain().libdevice!r}}}\n"
        "sys.modules['kernel_where'] = w\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", where + code, folder],
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    entry = done.stdout[done.stdout.index(".entry") :].partition(")")[0]
    expected = [int(bits) // 8 for _, bits in PARAMETER.findall(entry)]
    words = numba_words([Passed(0, "f4", 4, (9,)), 1, 2.0, True, 1j, Passed(1, "f8", 8, (3, 3))])
    assert sizes(words) == expected


@given(st.integers(-(1 << 63), (1 << 64) - 1))
def test_whole_numbers_of_64_bits_keep_their_bits(number: int) -> None:
    (word,) = numba_words([number])
    assert isinstance(word, str)
    assert int.from_bytes(bytes.fromhex(word), "little") == number % (1 << 64)


def test_a_number_of_more_bits_is_refused() -> None:
    with pytest.raises(Mismatch, match="64 bits"):
        numba_words([1 << 64])


PARAMETERS = [("a", "f4", True), ("n", "i4", False), ("x", "f4", False)]
ARRAY = Passed(5, "f4", 4, (8,))


def test_values_take_the_types_of_the_parameters() -> None:
    assert c_words(PARAMETERS, [ARRAY, 3, 1]) == [5, "03000000", "0000803f"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([ARRAY, 3], "3 parameters"),
        ([3, 3, 1.0], "pointer"),
        ([Passed(0, "f8", 8, (1,)), 3, 1.0], "points to f4"),
        ([ARRAY, 1 << 31, 1.0], "cannot hold"),
        ([ARRAY, 2.5, 1.0], "integer"),
        ([ARRAY, ARRAY, 1.0], "is a number"),
        ([ARRAY, 3, 1e300], "cannot hold"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: list[Any], said: str) -> None:
    with pytest.raises(Mismatch, match=said):
        c_words(PARAMETERS, arguments)


def test_a_type_that_no_plan_can_pass_is_refused() -> None:
    with pytest.raises(Mismatch, match="type"):
        c_words([("p", "", False)], [1])


@pytest.mark.parametrize(
    "given_",
    [
        (1, 2048),
        (0, 32),
        (1, 0),
        ((1, 70000), 32),
        (1, (32, 32, 2)),
        (1, 32, 7),
        (1, 32, 0, 1 << 20),
        5,
        (1,),
        ((1, 1, 1, 1), 1),
        (True, 32),
        (1, 32, 0, -1),
        (1.0, 32),
    ],
)
def test_launches_that_no_device_takes_are_refused(given_: Any) -> None:
    with pytest.raises(Trouble):
        configured("k", given_, SHARED_BYTES, THREADS)


def test_a_launch_is_three_sizes_of_each() -> None:
    found = configured("k", ((2, 3), 64, 0, 128), SHARED_BYTES, THREADS)
    assert found == ((2, 3, 1), (64, 1, 1), 128)
