"""The CUDA driver, called by ctypes: nothing of CUDA's need be installed beside the driver itself.

Names and signatures are those of the CUDA Driver API, "CUDA Driver API Reference Manual", versions
11 to 13.
"""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["Driver", "Lost", "Trap"]

NOT_READY = 600
# errors that a kernel causes; after these a context is of no more use
TRAPS = {
    700: "it accesses memory that is not its own",
    702: "it takes too long for the device",
    710: "an assertion of it fails",
    714: "an error of the device's stack",
    715: "an instruction that the device does not have",
    716: "an address that is not aligned",
    717: "an address of another space",
    718: "a program counter that is none",
    719: "it fails on the device",
    720: "it asks for more than a cooperative launch has",
}
REFUSED = {
    1: "a launch that the device refuses",
    701: "a block that takes more registers or shared memory than there are",
    98: "a launch that the device refuses",
}
_MAJOR = 75
_MINOR = 76
_L2 = 38
_SHARED_OPT_IN = 97
_PERSISTING = 108
_DYNAMIC = 8
_BLOCKING = 4
_LIMIT_PERSISTING = 6
_pointer = ctypes.c_uint64


class Lost(Exception):
    """The driver does not do what it should: the machine's fault."""


class Trap(Exception):
    """A kernel did what it must not: the answer's fault."""


class Driver:
    """One context on one device.

    Args:
        library: the driver's.
        device: its number.

    Raises:
        Lost: there is no driver, no device, or it cannot be used.
    """

    def __init__(self, library: str, device: int = 0) -> None:
        try:
            self._cuda = ctypes.CDLL(library)
        except OSError as error:
            raise Lost(f"the driver's library cannot be loaded: {error}") from None
        self._call("cuInit", 0)
        self._device = ctypes.c_int()
        self._call("cuDeviceGet", ctypes.byref(self._device), device)
        self._call("cuDevicePrimaryCtxSetFlags_v2", self._device, _BLOCKING)
        context = ctypes.c_void_p()
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        self._call("cuCtxSetCurrent", context)
        self._stream = ctypes.c_void_p()
        self._call("cuStreamCreate", ctypes.byref(self._stream), 1)

    def _status(self, name: str, *arguments: object) -> int:
        return int(getattr(self._cuda, name)(*arguments))

    def _call(self, name: str, *arguments: object) -> None:
        status = self._status(name, *arguments)
        if status in TRAPS:
            raise Trap(TRAPS[status])
        if status:
            raise Lost(f"{name}: error {status}")

    def _attribute(self, number: int) -> int:
        found = ctypes.c_int()
        self._call("cuDeviceGetAttribute", ctypes.byref(found), number, self._device)
        return found.value

    def about(self) -> dict[str, Any]:
        """Name, architecture, bytes of its second cache and of its memory."""
        name = ctypes.create_string_buffer(100)
        self._call("cuDeviceGetName", name, 100, self._device)
        total = ctypes.c_size_t()
        self._call("cuDeviceTotalMem_v2", ctypes.byref(total), self._device)
        return {
            "name": name.value.decode("ascii", "replace"),
            "arch": f"sm_{self._attribute(_MAJOR)}{self._attribute(_MINOR)}",
            "l2": self._attribute(_L2),
            "memory": total.value,
            "shared": self._attribute(_SHARED_OPT_IN),
        }

    def persist_nothing(self) -> None:
        """Take away the part of the second cache in which data can be kept."""
        if self._attribute(_PERSISTING):
            self._call("cuCtxSetLimit", _LIMIT_PERSISTING, ctypes.c_size_t(0))
            self._call("cuCtxResetPersistingL2Cache")

    def alloc(self, size: int) -> int:
        """Bytes of device memory."""
        found = _pointer()
        self._call("cuMemAlloc_v2", ctypes.byref(found), ctypes.c_size_t(max(1, size)))
        return found.value

    def free(self, place: int) -> None:
        """Give them back."""
        self._call("cuMemFree_v2", _pointer(place))

    def write(self, place: int, data: bytes) -> None:
        """From host to device, to its end."""
        if data:
            self._call("cuMemcpyHtoD_v2", _pointer(place), data, ctypes.c_size_t(len(data)))

    def read(self, place: int, size: int) -> bytes:
        """From device to host."""
        if not size:
            return b""
        buffer = ctypes.create_string_buffer(size)
        self._call("cuMemcpyDtoH_v2", buffer, _pointer(place), ctypes.c_size_t(size))
        return buffer.raw

    def copy(self, to: int, place: int, size: int) -> None:
        """From device to device, on the stream."""
        self._call(
            "cuMemcpyDtoDAsync_v2",
            _pointer(to),
            _pointer(place),
            ctypes.c_size_t(size),
            self._stream,
        )

    def fill(self, place: int, byte: int, size: int) -> None:
        """The same byte everywhere, on the stream."""
        self._call(
            "cuMemsetD8Async",
            _pointer(place),
            ctypes.c_ubyte(byte),
            ctypes.c_size_t(size),
            self._stream,
        )

    def load(self, image: bytes) -> Any:
        """A module: its globals are as they were written."""
        module = ctypes.c_void_p()
        self._call("cuModuleLoadData", ctypes.byref(module), image)
        return module

    def unload(self, module: object) -> None:
        """With all that it kept."""
        self._call("cuModuleUnload", module)

    def function(self, module: object, symbol: str, dynamic: int) -> Any:
        """A kernel that may take this much dynamic shared memory.

        Raises:
            Trap: it cannot.
        """
        found = ctypes.c_void_p()
        self._call("cuModuleGetFunction", ctypes.byref(found), module, symbol.encode())
        if dynamic > 0 and self._status("cuFuncSetAttribute", found, _DYNAMIC, dynamic):
            raise Trap(f"{dynamic} bytes of dynamic shared memory are more than the device has")
        return found

    def launch(
        self,
        function: object,
        grid: Sequence[int],
        block: Sequence[int],
        dynamic: int,
        words: Sequence[bytes],
    ) -> None:
        """On the stream; each word is one parameter.

        Raises:
            Trap: the device refuses it.
        """
        held = [ctypes.create_string_buffer(word, len(word)) for word in words]
        places = (ctypes.c_void_p * max(1, len(held)))(*(ctypes.addressof(one) for one in held))
        sizes = [ctypes.c_uint(size) for size in (*grid, *block, dynamic)]
        given = [function, *sizes, self._stream, places, None]
        status = self._status("cuLaunchKernel", *given)
        if status in REFUSED:
            raise Trap(REFUSED[status])
        if status in TRAPS:
            raise Trap(TRAPS[status])
        if status:
            raise Lost(f"cuLaunchKernel: error {status}")

    def idle(self) -> bool:
        """Whether all that was launched has ended.

        Raises:
            Trap: a kernel failed.
        """
        status = self._status("cuStreamQuery", self._stream)
        if status in TRAPS:
            raise Trap(TRAPS[status])
        if status not in (0, NOT_READY):
            raise Lost(f"cuStreamQuery: error {status}")
        return status == 0

    def sync(self) -> None:
        """Wait for the whole device."""
        self._call("cuCtxSynchronize")

    def event(self) -> Any:
        """A place in time."""
        found = ctypes.c_void_p()
        self._call("cuEventCreate", ctypes.byref(found), 0)
        return found

    def record(self, event: object) -> None:
        """Now, on the stream."""
        self._call("cuEventRecord", event, self._stream)

    def elapsed(self, start: object, end: object) -> float:
        """Seconds between two events."""
        self._call("cuEventSynchronize", end)
        found = ctypes.c_float()
        self._call("cuEventElapsedTime", ctypes.byref(found), start, end)
        return found.value / 1e3
