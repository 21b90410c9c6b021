"""Compiles an answer, inside the sandbox: what it says is bytes and text, and the judge reads the
report out of them.

One request, a JSON object, is answered by one frame, a JSON object and NUL and the bytes that it
counts:

    {"do": "cuda", "source": …, "options": […], "headers": {name: text}}
                                                    -> {"done": status, "log": text, "sizes": [n]}
                                                    and the cubin
    {"do": "numba", "source": …, "cases": […], …}   -> see ``kernel_ptx``

``kernel_where`` is written by the judge and says where the compilers are.
"""

from __future__ import annotations

import ctypes
import json

import kernel_wire
from kernel_where import PATHS
from kernel_wire import Broken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

__all__ = ["compiled", "rehearse", "serve"]

FILE = b"kernel.cu"
LOG_BYTES = 1 << 19  # of a log, from its beginning and from its end
_SMALL = """extern "C" __global__ void __launch_bounds__(64) k(const float* a, float* o, int n) {
  __shared__ float s[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? sinf(a[i]) : 0.0f;
  __syncthreads();
  for (int j = 0; j < 8; j++) if (i < n) o[i] = s[threadIdx.x ^ 1] + o[j];
}"""
_loaded: list[Any] = []
_rehearsed: list[str] = []


def rehearse() -> None:
    """Load the compilers and use them once, so that no answer waits for that.

    What breaks says so when it is asked.
    """
    if _rehearsed:
        return
    _rehearsed.append("once")
    try:
        if PATHS["nvrtc"]:
            compiled(_SMALL, ["-arch=sm_90", "--ptxas-options=-v"], {})
        if PATHS["nvvm"]:
            import kernel_ptx

            kernel_ptx.rehearse()
    except Broken:
        return


def serve() -> None:
    """Answer the one request that comes."""
    frame = kernel_wire.read()
    if frame is None:
        return
    order = json.loads(frame)
    try:
        if order["do"] == "cuda":
            head, parts = _cuda(order)
        else:
            import kernel_ptx

            head, parts = kernel_ptx.answered(order)
    except Broken as broken:
        head = {"broken": str(broken)[:300]}
        parts = []
    head["sizes"] = [len(part) for part in parts]
    kernel_wire.say(head, parts)


def _cuda(order: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    status, log, cubin = compiled(order["source"], order["options"], order["headers"])
    if len(log) > 2 * LOG_BYTES:
        log = log[:LOG_BYTES] + b"\n" + log[-LOG_BYTES:]
    return {"done": status, "log": log.decode("utf-8", "replace")}, [cubin]


def _nvrtc() -> Any:
    """NVRTC; its built-in device functions are a library of their own, which it looks for by name.

    Raises:
        Broken: it cannot be loaded.
    """
    if not _loaded:
        try:
            for path in PATHS["builtins"]:
                ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            _loaded.append(ctypes.CDLL(PATHS["nvrtc"]))
        except OSError as error:
            raise Broken(f"NVRTC cannot be loaded: {error}") from None
    return _loaded[0]


def compiled(
    source: str, options: Sequence[str], headers: Mapping[str, str]
) -> tuple[int, bytes, bytes]:
    """(status, log, cubin) of NVRTC; status 0 is success, 6 that the source is wrong.

    Args:
        headers: what may be included, by name; no file is opened for these.

    Raises:
        Broken: it cannot be loaded.
    """
    nvrtc = _nvrtc()
    program = ctypes.c_void_p()
    text = source.encode("utf-8", "surrogatepass")
    names = _words(headers)
    texts = _words(headers.values())
    count = len(headers)
    given = [ctypes.byref(program), text, FILE, count, texts, names]
    status = nvrtc.nvrtcCreateProgram(*given)
    if status:
        raise Broken(f"NVRTC takes no program: status {status}")
    try:
        status = nvrtc.nvrtcCompileProgram(program, len(options), _words(options))
        log = _got(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program).rstrip(b"\0")
        cubin = b"" if status else _got(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return status, log, cubin


def _words(words: Iterable[str]) -> Any:
    """An array of C's strings."""
    encoded = [word.encode() for word in words]
    return (ctypes.c_char_p * len(encoded))(*encoded)


def _got(size: Any, content: Any, program: ctypes.c_void_p) -> bytes:
    count = ctypes.c_size_t()
    if size(program, ctypes.byref(count)):
        return b""
    buffer = ctypes.create_string_buffer(count.value)
    return b"" if content(program, buffer) else buffer.raw
