"""Occupancy from published limits, and finding the compilers."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.building import toolchain as tools
from rlenv_plugin_cuda.building.occupancy import device, occupancy
from rlenv_plugin_cuda.building.places import apart

# (arch, registers, shared, threads) -> blocks on a multiprocessor, as NVIDIA's own cuda_occupancy.h
# of CUDA 13 works them out (compared once with this module on 34,034 launches of 11 architectures:
# no difference)
KNOWN = [
    ("sm_75", 32, 0, 256, 4), ("sm_75", 64, 16384, 64, 4), ("sm_75", 255, 0, 1024, 0),
    ("sm_80", 32, 0, 256, 8), ("sm_80", 33, 0, 1024, 1), ("sm_80", 40, 49152, 128, 3),
    ("sm_80", 24, 166912, 32, 1), ("sm_86", 32, 0, 1024, 1), ("sm_86", 40, 8448, 192, 8),
    ("sm_87", 128, 1024, 96, 5), ("sm_89", 16, 256, 31, 24), ("sm_89", 65, 101376, 64, 1),
    ("sm_90", 32, 0, 256, 8), ("sm_90", 64, 8448, 256, 4), ("sm_90", 65, 0, 256, 3),
    ("sm_90", 168, 0, 384, 1), ("sm_90", 255, 0, 33, 4), ("sm_90", 24, 232448, 128, 1),
    ("sm_90", 24, 232449, 128, 0), ("sm_90", 0, 0, 1, 32), ("sm_90", 72, 33000, 512, 1),
    ("sm_100", 48, 60000, 128, 3), ("sm_110", 32, 0, 512, 3), ("sm_120", 96, 1, 768, 0),
    ("sm_120", 16, 65536, 512, 1), ("sm_121", 32, 0, 1024, 1),
]  # fmt: skip


@pytest.mark.parametrize(("arch", "registers", "shared", "threads", "blocks"), KNOWN)
def test_occupancy_is_that_of_the_published_calculator(
    arch: str, registers: int, shared: int, threads: int, blocks: int
) -> None:
    found = occupancy(arch, registers, shared, threads)
    assert found.blocks == blocks
    assert found.warps == blocks * -(-threads // 32)


def test_what_keeps_a_kernel_from_more_has_a_name() -> None:
    assert occupancy("sm_90", 32, 0, 1024).limiter == "threads"
    assert occupancy("sm_90", 16, 0, 32).limiter == "blocks"
    assert occupancy("sm_90", 128, 0, 256).limiter == "registers"
    assert occupancy("sm_90", 32, 100_000, 256).limiter == "shared"
    assert occupancy("sm_90", 128, 0, 256).fraction == 0.25


def test_the_system_reserves_a_kibibyte_of_each_block() -> None:
    assert occupancy("sm_90", 32, 227 * 1024, 32).blocks == 1
    assert occupancy("sm_90", 32, 113 * 1024, 32).blocks == 2
    assert occupancy("sm_90", 32, 114 * 1024, 32).blocks == 1
    assert occupancy("sm_75", 32, 32 * 1024, 32).blocks == 2


@given(st.integers(0, 300), st.integers(0, 1 << 19), st.integers(1, 2048), st.integers(1, 32))
@settings(max_examples=200, deadline=None)
def test_taking_more_never_fits_more(registers: int, shared: int, threads: int, more: int) -> None:
    found = occupancy("sm_90", registers, shared, threads)
    chip = device("sm_90")
    assert chip is not None
    assert 0 <= found.fraction <= 1
    assert found.blocks * (shared + (1024 if found.blocks else 0)) <= chip.shared
    assert found.blocks * threads * registers <= chip.registers
    for arguments in ((registers + more, shared, threads), (registers, shared + more, threads)):
        assert occupancy("sm_90", *arguments).blocks <= found.blocks


@pytest.mark.parametrize(
    "arguments", [("sm_35", 1, 1, 1), ("H100", 1, 1, 1), ("sm_90", -1, 0, 1), ("sm_90", 1, 0, 0)]
)
def test_what_is_not_known_is_said_to_be_unknown(arguments: tuple[str, int, int, int]) -> None:
    with pytest.raises(ValueError, match=r"not known here; there are sm_70|numbers from 0"):
        occupancy(*arguments)


def test_the_toolchain_is_looked_for_beside_python_before_the_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in (
        "lib64/libnvrtc.so.12",
        "nvvm/lib64/libnvvm.so.4",
        "bin/ptxas",
        "nvvm/libdevice/libdevice.10.bc",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    monkeypatch.setattr(tools, "find_spec", lambda _: None)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    tools.toolchain.cache_clear()
    try:
        found = tools.toolchain()
    finally:
        tools.toolchain.cache_clear()
    assert found.nvrtc.endswith("libnvrtc.so.12")
    assert found.ptxas == str(tmp_path / "bin" / "ptxas")
    assert found.libdevice.endswith("libdevice.10.bc")


@pytest.mark.parametrize(
    ("lang", "named"), [("cuda", "NVRTC"), ("numba", "libNVVM, libdevice, ptxas")]
)
def test_what_is_missing_is_named_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, lang: str, named: str
) -> None:
    monkeypatch.setattr(tools, "toolchain", tools.Toolchain)
    said = tools.missing(lang)
    assert f"no compiler for {lang} kernels: {named}" in said
    assert "pip install nvidia-cuda-nvcc" in said
    assert tools.architectures(lang) == ()
    assert tools.unsupported(lang, "sm_90") == ""


def test_an_architecture_is_written_as_the_compilers_write_it() -> None:
    for wrong in ("", "90", "sm90", "sm_", "sm_09", "compute_90", "sm_90; ls", "sm_90\n", "-arch"):
        assert "is no architecture" in tools.unsupported("cuda", wrong)


@pytest.mark.skipif(bool(tools.missing("cuda")), reason=tools.missing("cuda"))
def test_the_compilers_say_what_they_build_for() -> None:
    for lang in ("cuda", "numba"):
        assert "sm_90" in tools.architectures(lang) or tools.missing(lang)
        assert "it builds for sm_" in tools.unsupported(lang, "sm_999") or tools.missing(lang)
        assert tools.unsupported(lang, "sm_90a") == ""


def test_compilers_have_places_of_their_own() -> None:
    assert apart(Box()).sandbox() is apart(Box()).sandbox()
    assert apart(Box()).sandbox() is not Box().sandbox()
    assert apart(Box("docker", {"image": "x"})) == Box("docker", {"image": "x"})
