"""How many blocks of a kernel fit on one multiprocessor, and so how much of its threads a launch
can keep busy.

The limits per compute capability are those of the CUDA C++ Programming Guide, "Compute
Capabilities" (technical specifications per compute capability), the units of allocation those of
the CUDA Occupancy Calculator: registers are given out per warp in units of 256 and each of the four
partitions holds whole warps, shared memory in units of 256 bytes before 8.0 and 128 bytes from then
on, and from 8.0 on the system takes 1 KiB of it for each block.
"""

from __future__ import annotations

from attrs import frozen

from .toolchain import ARCH

__all__ = ["Device", "Occupancy", "device", "occupancy"]

WARP = 32
REGISTER_UNIT = 256  # registers of a warp
PARTITIONS = 4  # of a multiprocessor, each with a quarter of the registers
REGISTERS_PER_THREAD = 255
THREADS_PER_BLOCK = 1024


@frozen
class Device:
    """One multiprocessor.

    Args:
        warps: at one time.
        blocks: at one time.
        shared: bytes of shared memory of all blocks together.
        shared_per_block: bytes at most, static and dynamic, with the opt-in that more than 48 KiB
            take.
        reserved: bytes that the system takes of each block.
        unit: bytes in which shared memory is given out.
        registers: of 32 bits.
    """

    warps: int
    blocks: int
    shared: int
    shared_per_block: int
    reserved: int = 1024
    unit: int = 128
    registers: int = 65536


def _kib(warps: int, blocks: int, shared: int, per_block: int, **more: int) -> Device:
    return Device(warps, blocks, shared << 10, per_block << 10, **more)


_OLD = {"reserved": 0, "unit": 256}
_DEVICES = {
    70: _kib(64, 32, 96, 96, **_OLD),
    72: _kib(64, 32, 96, 96, **_OLD),
    75: _kib(32, 16, 64, 64, **_OLD),
    80: _kib(64, 32, 164, 163),
    86: _kib(48, 16, 100, 99),
    87: _kib(48, 16, 164, 163),
    89: _kib(48, 24, 100, 99),
    90: _kib(64, 32, 228, 227),
    100: _kib(64, 32, 228, 227),
    103: _kib(64, 32, 228, 227),
    110: _kib(48, 24, 228, 227),
    120: _kib(48, 24, 100, 99),
    121: _kib(48, 24, 100, 99),
}


@frozen
class Occupancy:
    """What fits on one multiprocessor.

    Args:
        blocks: at one time; 0: the launch fails.
        warps: of those blocks.
        fraction: of the warps that it could hold, in [0, 1].
        limiter: what keeps it from more: "registers", "shared", "threads", "blocks".
    """

    blocks: int
    warps: int
    fraction: float
    limiter: str


def device(arch: str) -> Device | None:
    """The multiprocessor of an architecture such as "sm_90", None where it is not known here."""
    match = ARCH.fullmatch(arch)
    return _DEVICES.get(int(match[1])) if match else None


def occupancy(arch: str, registers: int, shared: int, threads: int) -> Occupancy:
    """The occupancy of a launch.

    Args:
        arch: such as "sm_90".
        registers: per thread, as the assembler reports them.
        shared: bytes per block, static and dynamic, as the program asks for them.
        threads: per block.

    Raises:
        ValueError: an architecture that is not known here, or numbers below 0 (threads: below 1).
    """
    chip = device(arch)
    if chip is None:
        known = ", ".join(f"sm_{number}" for number in sorted(_DEVICES))
        raise ValueError(
            f"arch: the occupancy of {arch!r:.40} is not known here; there are {known}"
        )
    if registers < 0 or shared < 0 or threads < 1:
        raise ValueError("registers and shared are numbers from 0, and threads from 1")
    warps = -(-threads // WARP)
    fits = {
        "threads": chip.warps // warps if threads <= THREADS_PER_BLOCK else 0,
        "blocks": chip.blocks,
        "registers": _by_registers(chip, registers, warps),
        "shared": _by_shared(chip, shared),
    }
    blocks = min(fits.values())
    limiter = next(name for name, most in fits.items() if most == blocks)
    return Occupancy(blocks, blocks * warps, blocks * warps / chip.warps, limiter)


def _by_registers(chip: Device, registers: int, warps: int) -> int:
    """A warp's registers lie in one partition."""
    if not registers:
        return chip.blocks
    if registers > REGISTERS_PER_THREAD:
        return 0
    of_a_warp = -(-registers * WARP // REGISTER_UNIT) * REGISTER_UNIT
    return chip.registers // PARTITIONS // of_a_warp * PARTITIONS // warps


def _by_shared(chip: Device, shared: int) -> int:
    if shared > chip.shared_per_block:
        return 0
    of_a_block = -(-(shared + chip.reserved) // chip.unit) * chip.unit
    return chip.shared // of_a_block if of_a_block else chip.blocks
