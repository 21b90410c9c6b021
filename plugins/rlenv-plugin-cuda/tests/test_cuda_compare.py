"""Outputs are compared in one pass, in two ways that find the same, and by meaning where bits
differ.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from rlenv_plugin_cuda import jit
from rlenv_plugin_cuda.compare import BLOCK, Difference, agrees, difference
from rlenv_plugin_cuda.numbers import NUMPY, to_bf16, to_float
from rlenv_plugin_cuda.spec import DTYPES, Tolerance

EXACT = Tolerance()
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e-42, 3e38, 1e-310, 1.7e308, 5e-324)


def f4(*numbers: float) -> NDArray[Any]:
    return np.array(numbers, "f4")


def test_equal_outputs_are_equal_whatever_the_sign_of_zero_and_the_bits_of_nan() -> None:
    got = f4(0.0, -0.0, 1.5, np.inf, -np.inf, np.nan)
    got.view("u4")[-1] = 0xFFC12345
    want = f4(-0.0, 0.0, 1.5, np.inf, -np.inf, np.nan)
    assert difference(got.tobytes(), want, "f4", EXACT, full=True).equal


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (np.nan, 1.0),
        (1.0, np.nan),
        (np.inf, 1.0),
        (1.0, np.inf),
        (np.inf, -np.inf),
        (np.nan, np.inf),
        (3e38, np.inf),
    ],
)
@pytest.mark.parametrize("tol", [EXACT, Tolerance(1e30, 1e30)], ids=["exact", "loose"])
@pytest.mark.parametrize("compiled", [False, True])
def test_nan_and_infinity_match_exactly_under_any_tolerance(
    got: float, want: float, tol: Tolerance, compiled: bool
) -> None:
    found = difference(f4(0, got, 0).tobytes(), f4(0, want, 0), "f4", tol, jit=compiled)
    assert (found.violations, found.classes, found.first) == (1, 1, 1)


def test_where_and_how_much_is_wrong_is_said() -> None:
    want = np.zeros((3, 5), "f8") + 1
    got = want.copy()
    got[1, 2] += 0.5
    got[2, 4] -= 2
    got[0, 1] += 1e-9
    found = difference(got.tobytes(), want, "f8", Tolerance(atol=1e-6))
    assert (found.elements, found.violations, found.classes) == (15, 2, 0)
    assert (found.first, found.worst, found.max_abs) == (7, 14, 2.0)
    assert found.relative_l2 == pytest.approx((4.25 / 15) ** 0.5, rel=1e-5)
    assert (
        found.text("o")
        == "o: 2 of 15 elements are wrong, first at [1, 2], largest error 2 at [2, 4]"
    )
    assert not found.equal
    right = difference(want.tobytes(), want, "f8", EXACT)
    assert right.text("o") == "o: 15 of 15 elements are right"
    assert (right.max_abs, right.worst) == (None, -1)


def test_tolerance_is_absolute_and_relative_to_the_golden_output() -> None:
    tol = Tolerance(atol=0.5, rtol=0.1)
    assert agrees(f4(11.5, 0.5).tobytes(), f4(10, 0), "f4", tol)
    assert not agrees(f4(11.6, 0.5).tobytes(), f4(10, 0), "f4", tol)
    assert not agrees(f4(0).tobytes(), f4(0.6), "f4", tol)


def test_scales_and_bounds_take_the_place_of_the_golden_size_or_add_to_it() -> None:
    tol = Tolerance(rtol=0.1)
    got = f4(1, 1).tobytes()
    want = f4(0, 1.5)
    assert not agrees(got, want, "f4", tol)
    assert agrees(got, want, "f4", tol, scale=np.array([10.0, 5.0]))
    assert not agrees(got, want, "f4", tol, scale=np.array([10.0, 4.0]))
    assert agrees(got, want, "f4", tol, scale=10.0)
    assert agrees(got, want, "f4", tol, bound=np.array([1.0, 0.5]))
    assert not agrees(got, want, "f4", tol, bound=np.array([np.inf, 0.5]))
    assert not agrees(got, want, "f4", tol, bound=np.array([np.nan, 0.5]))


@pytest.mark.parametrize("dtype", ["f2", "bf16", "f4", "f8"])
def test_ulp_counts_the_numbers_between(dtype: str) -> None:
    bits = np.dtype(NUMPY[dtype]).itemsize * 8
    want = np.zeros(4, f"u{bits // 8}")
    got = want.copy()
    got[1] = 5
    got[2] = (1 << (bits - 1)) | 3
    want[2] = 4
    kind = NUMPY[dtype]
    for compiled in (False, True):
        found = difference(
            got.view(kind), want.view(kind), dtype, Tolerance(1), full=True, jit=compiled
        )
        assert (found.ulp, found.equal) == (7, True)


def test_integers_are_exact_to_the_last_bit_of_64() -> None:
    for dtype, low, high in (("i8", -(1 << 63), (1 << 63) - 1), ("u8", 0, (1 << 64) - 1)):
        want = np.array([low, high, 5], dtype)
        assert agrees(want.tobytes(), want, dtype, EXACT)
        found = difference(np.array([low, high - 1, 5], dtype).tobytes(), want, dtype, EXACT)
        assert (found.violations, found.first, found.max_abs, found.ulp) == (1, 1, 1.0, None)
        far = difference(want[[1, 0, 2]].tobytes(), want, dtype, Tolerance(1e18))
        assert (far.violations, far.max_abs) == (2, float(high - low))


def test_integers_have_the_tolerance_that_the_task_gives() -> None:
    want = np.array([10, 100], "u1")
    assert agrees(np.array([12, 98], "u1").tobytes(), want, "u1", Tolerance(2))
    assert not agrees(np.array([12, 97], "u1").tobytes(), want, "u1", Tolerance(2))
    assert agrees(np.array([10, 90], "u1").tobytes(), want, "u1", Tolerance(rtol=0.1))


def test_a_truth_value_is_0_or_1_and_no_tolerance_helps() -> None:
    want = np.array([True, False, True])
    assert agrees(b"\1\0\1", want, "b1", EXACT)
    for wrong in (b"\1\1\1", b"\2\0\1", b"\1\0\xff"):
        assert not agrees(wrong, want, "b1", Tolerance(300, 300))


def test_complex_numbers_are_compared_by_parts_with_room_of_the_larger() -> None:
    want = np.array([100 + 1j, complex(np.nan, 2), 3], "c8")
    got = want + np.array([0.5 + 0.9j, 0, 0], "c8")
    assert agrees(got.tobytes(), want, "c8", Tolerance(rtol=0.01))
    assert not agrees(got.tobytes(), want, "c8", Tolerance(rtol=0.008))
    far = np.array([complex(np.inf, 1)], "c8"), np.array([complex(np.inf, 500)], "c8")
    assert not agrees(far[1].tobytes(), far[0], "c8", Tolerance(rtol=1))
    odd = np.array([100 + 1j, complex(2, np.nan), 3], "c8")
    found = difference(odd.tobytes(), want, "c8", Tolerance(rtol=1))
    assert (found.violations, found.classes, found.first, found.elements) == (1, 1, 1, 3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_bytes_of_another_length_are_all_wrong(dtype: str) -> None:
    want = np.zeros(5, NUMPY[dtype])
    size = want.nbytes
    for length in (0, 1, size - 1, size + 1, 2 * size):
        if length != size:
            found = difference(bytes(length), want, dtype, Tolerance(1e9))
            assert (found.violations, found.elements) == (5, 5)
            assert not agrees(bytes(length), want, dtype, Tolerance(1e9))


@pytest.mark.parametrize("place", [0, BLOCK - 1, BLOCK, 3 * BLOCK - 1, 3 * BLOCK + 6])
def test_one_wrong_element_is_found_in_any_block(place: int) -> None:
    want = np.linspace(-1, 1, 3 * BLOCK + 7).astype("f4")
    got = want.copy()
    got[place] += 0.25
    for compiled in (False, True):
        found = difference(got.tobytes(), want, "f4", Tolerance(1e-6), jit=compiled)
        assert (found.violations, found.first, found.worst) == (1, place, place)


def test_huge_errors_and_numbers_are_reported_as_finite() -> None:
    found = difference(np.array([1.7e308, 1.0]).tobytes(), np.array([-1.7e308, 1.0]), "f8", EXACT)
    assert found.violations == 1
    assert found.classes == 0
    assert found.max_abs is not None
    assert np.isfinite([found.max_abs, found.relative_l2]).all()


def numbers(dtype: str) -> st.SearchStrategy[float]:
    del dtype
    return (
        st.sampled_from(SPECIAL)
        | st.floats(width=32)
        | st.floats()
        | st.integers(-300, 300).map(float)
    )


def as_dtype(values: list[float], dtype: str) -> NDArray[Any]:
    found = np.array(values)
    if dtype[0] in "iu":
        found = np.nan_to_num(found, posinf=1e9, neginf=-1e9).clip(-1e9, 1e9).astype("i8")
    with np.errstate(all="ignore"):
        return to_bf16(found) if dtype == "bf16" else found.astype(NUMPY[dtype])


TOLERANCES = st.builds(
    Tolerance,
    st.sampled_from([0.0, 1e-9, 1e-3, 1.0, 1e300]),
    st.sampled_from([0.0, 1e-7, 1e-3, 1.0, 1e300]),
)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    data=st.data(),
    dtype=st.sampled_from(DTYPES),
    tol=TOLERANCES,
    repeat=st.sampled_from([1, 40]),
    scaled=st.sampled_from(["", "array", "float", "bound"]),
)
def test_compiled_loops_and_numpy_find_the_same(
    data: st.DataObject, dtype: str, tol: Tolerance, repeat: int, scaled: str
) -> None:
    pairs = data.draw(
        st.lists(st.tuples(numbers(dtype), numbers(dtype), st.booleans()), min_size=1, max_size=20)
    )
    want = np.tile(as_dtype([a for a, _, _ in pairs], dtype), repeat)
    got = np.tile(as_dtype([a if same else b for a, b, same in pairs], dtype), repeat)
    more: dict[str, Any] = {}
    if scaled in ("array", "bound"):
        more[scaled if scaled == "bound" else "scale"] = np.linspace(0, 5, want.size)
    elif scaled:
        more["scale"] = 2.5
    slow = difference(got, want, dtype, tol, full=True, jit=False, **more)
    fast = difference(got, want, dtype, tol, full=True, jit=True, **more)
    assert same(slow, fast)
    assert slow.equal == agrees(got.tobytes(), want, dtype, tol, **more)
    lean = difference(got.tobytes(), want, dtype, tol, jit=True, **more)
    assert (lean.violations, lean.classes, lean.first) == (
        slow.violations,
        slow.classes,
        slow.first,
    )
    assert slow.violations == violations(got, want, dtype, tol, more)


def same(slow: Difference, fast: Difference) -> bool:
    """All figures, sums to rounding."""
    assert fast.relative_l2 == pytest.approx(slow.relative_l2, rel=1e-5)
    figures = ("elements", "violations", "classes", "first", "worst", "max_abs", "ulp", "shape")
    return all(getattr(slow, name) == getattr(fast, name) for name in figures)


def violations(
    got: NDArray[Any], want: NDArray[Any], dtype: str, tol: Tolerance, more: dict[str, Any]
) -> int:
    """The definition, one element after another in plain Python."""
    wrong = 0
    for place, (g, w) in enumerate(zip(got, want, strict=True)):
        if dtype[0] in "iu" or dtype == "b1":
            parts: list[tuple[float, float]] = [(int(g), int(w))]
        elif dtype[0] == "c":
            parts = [(float(g.real), float(w.real)), (float(g.imag), float(w.imag))]
        else:
            wide = to_float(np.array([g, w]), dtype)
            parts = [(float(wide[0]), float(wide[1]))]
        size = max((abs(b) for _, b in parts if np.isfinite(b)), default=0.0)
        scale = more.get("scale", size)
        scale = float(scale[place]) if isinstance(scale, np.ndarray) else scale
        bound = float(more["bound"][place]) if "bound" in more else 0.0
        wrong += any(not near(a, b, tol.atol, tol.rtol, scale, bound, dtype) for a, b in parts)
    return wrong


def near(
    a: float, b: float, atol: float, rtol: float, scale: float, bound: float, dtype: str
) -> bool:
    if a == b or (np.isnan(a) and np.isnan(b)):
        return True
    if not (np.isfinite(a) and np.isfinite(b)) or dtype == "b1":
        return False
    with np.errstate(all="ignore"):
        return bool(np.float64(abs(a - b)) <= atol + np.float64(rtol) * scale + bound)


def test_large_work_is_compiled_and_small_work_imports_no_numba() -> None:
    code = (
        "import sys, numpy as np\n"
        "from rlenv_plugin_cuda.compare import difference\n"
        "from rlenv_plugin_cuda.spec import Tolerance\n"
        "from rlenv_plugin_cuda import jit\n"
        "def compare(n):\n"
        "    want = np.zeros(n, 'f4')\n"
        "    difference(want, want, 'f4', Tolerance())\n"
        "    return 'numba' in sys.modules\n"
        "jit._PAYS = 1 << 20\n"
        "print(compare(1000), compare(1 << 19), compare(1 << 20))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True"]


def test_code_is_kept_only_where_nobody_else_can_write(tmp_path: Path) -> None:
    assert jit._private(tmp_path / "new" / "folder")
    assert (tmp_path / "new" / "folder").stat().st_mode & 0o077 == 0
    for mode in (0o770, 0o777, 0o1777):
        folder = tmp_path / f"{mode:o}"
        folder.mkdir()
        folder.chmod(mode)
        assert not jit._private(folder)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "new")
    assert not jit._private(link)
    (tmp_path / "file").touch()
    assert not jit._private(tmp_path / "file")


def test_a_folder_that_others_can_write_to_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Config:
        CACHE_DIR = ""

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    Config.CACHE_DIR = str(shared)
    with jit._kept(Config):
        assert str(shared) != Config.CACHE_DIR
    assert str(shared) == Config.CACHE_DIR
    assert not os.listdir(shared)


def test_without_numba_everything_is_still_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    jit._loops.cache_clear()
    try:
        want = np.ones(100_000, "f4")
        assert not difference((want + 1).tobytes(), want, "f4", Tolerance(0.5), jit=True).equal
    finally:
        jit._loops.cache_clear()
