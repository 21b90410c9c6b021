"""Kernels as people write them, against numpy: none is lost, whatever order its threads come in."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from attrs import frozen

RNG = np.random.default_rng(7)


def floats(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def ints(most: int, *shape: int) -> Any:
    return RNG.integers(0, most, shape).astype(np.int32)


@frozen
class Honest:
    source: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    want: Callable[..., Any]
    zero: bool = False


def elementwise(name: str, body: str, want: Callable[..., Any], *, n: int = 300) -> Honest:
    source = (
        "@cuda.jit\n"
        "def k(x, o):\n"
        "    i = cuda.grid(1)\n"
        "    if i < o.size:\n"
        f"        {body}\n"
        "def run(x, o):\n"
        "    k[(o.size + 63) // 64, 64](x, o)\n"
    )
    return Honest(source, {"x": floats(n)}, {"o": ("f4", (n,))}, want)


X = floats(300)
M = floats(20, 33)
N = floats(33, 18)
H: dict[str, Honest] = {
    "relu": elementwise("relu", "o[i] = max(x[i], float32(0))", lambda x: np.maximum(x, 0)),
    "sigmoid": elementwise(
        "s", "o[i] = 1.0 / (1.0 + math.exp(-x[i]))", lambda x: 1 / (1 + np.exp(-x))
    ),
    "gelu": elementwise(
        "g",
        "o[i] = 0.5 * x[i] * (1.0 + math.erf(x[i] / math.sqrt(2.0)))",
        lambda x: np.array(
            [0.5 * v * (1 + np.vectorize(__import__("math").erf)(v / 2**0.5)) for v in x]
        ),
    ),
    "tanh": elementwise("t", "o[i] = math.tanh(x[i])", np.tanh),
    "leaky": elementwise(
        "l", "o[i] = x[i] if x[i] > 0 else 0.01 * x[i]", lambda x: np.where(x > 0, x, 0.01 * x)
    ),
    "clip": elementwise("c", "o[i] = min(max(x[i], -1.0), 1.0)", lambda x: np.clip(x, -1, 1)),
    "square": elementwise("q", "o[i] = x[i] ** 2", lambda x: x**2),
    "reverse": elementwise("r", "o[i] = x[o.size - 1 - i]", lambda x: x[::-1]),
    "saxpy": Honest(
        "@cuda.jit\n"
        "def k(a, x, y, o):\n"
        "    for i in range(cuda.grid(1), o.size, cuda.gridsize(1)):\n"
        "        o[i] = a * x[i] + y[i]\n"
        "def run(a, x, y, o):\n"
        "    k[2, 64](a, x, y, o)\n",
        {"a": 2.5, "x": X, "y": floats(300)},
        {"o": ("f4", (300,))},
        lambda a, x, y: a * x + y,
    ),
    "sum by shuffles": Honest(
        """
@cuda.jit(device=True)
def warp_sum(v):
    d = 16
    while d > 0:
        v += cuda.shfl_down_sync(0xffffffff, v, d)
        d //= 2
    return v
@cuda.jit
def k(x, o):
    s = cuda.shared.array(32, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    v = x[i] if i < x.size else float32(0)
    v = warp_sum(v)
    if cuda.laneid == 0:
        s[t // 32] = v
    cuda.syncthreads()
    if t < 32:
        v = s[t] if t < cuda.blockDim.x // 32 else float32(0)
        v = warp_sum(v)
        if t == 0:
            cuda.atomic.add(o, 0, v)
def run(x, o):
    k[(x.size + 127) // 128, 128](x, o)
""",
        {"x": X},
        {"o": ("f4", (1,))},
        lambda x: np.array([x.sum()]),
        True,
    ),
    "max by atomics": Honest(
        "@cuda.jit\n"
        "def k(x, o):\n"
        "    i = cuda.grid(1)\n"
        "    if i == 0:\n"
        "        pass\n"
        "    if i < x.size:\n"
        "        cuda.atomic.max(o, 0, x[i])\n"
        "def run(x, o):\n"
        "    k[3, 128](x, o)\n",
        {"x": ints(999, 300)},
        {"o": ("i4", (1,))},
        lambda x: np.array([x.max()]),
        True,
    ),
    "dot": Honest(
        """
TPB = 64
@cuda.jit
def k(a, b, o):
    cache = cuda.shared.array(shape=TPB, dtype=float32)
    tid = cuda.threadIdx.x
    acc = float32(0.)
    i = cuda.grid(1)
    while i < a.shape[0]:
        acc += a[i] * b[i]
        i += cuda.blockDim.x * cuda.gridDim.x
    cache[tid] = acc
    cuda.syncthreads()
    step = cuda.blockDim.x >> 1
    while step:
        if tid < step:
            cache[tid] += cache[tid + step]
        cuda.syncthreads()
        step >>= 1
    if tid == 0:
        cuda.atomic.add(o, 0, cache[0])
def run(a, b, o):
    k[2, TPB](a, b, o)
""",
        {"a": X, "b": floats(300)},
        {"o": ("f4", (1,))},
        lambda a, b: np.array([a @ b]),
        True,
    ),
    "two launches of partial sums": Honest(
        """
T = 128
@cuda.jit
def part(x, p):
    s = cuda.shared.array(T, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    w = T // 2
    while w > 0:
        if t < w:
            s[t] += s[t + w]
        cuda.syncthreads()
        w //= 2
    if t == 0:
        p[cuda.blockIdx.x] = s[0]
@cuda.jit
def last(p, o):
    total = 0.0
    for j in range(p.size):
        total += p[j]
    o[0] = total
def run(x, o):
    blocks = (x.size + T - 1) // T
    p = cuda.device_array(blocks, np.float64)
    part[blocks, T](x, p)
    last[1, 1](p, o)
""",
        {"x": X},
        {"o": ("f4", (1,))},
        lambda x: np.array([x.sum()]),
    ),
    "softmax with a warp a row": Honest(
        """
@cuda.jit
def k(x, o):
    row = cuda.blockIdx.x
    lane = cuda.threadIdx.x
    m = -math.inf
    for j in range(lane, x.shape[1], 32):
        m = max(m, x[row, j])
    for s in range(5):
        m = max(m, cuda.shfl_xor_sync(0xffffffff, m, 16 >> s))
    e = 0.0
    for j in range(lane, x.shape[1], 32):
        e += math.exp(x[row, j] - m)
    for s in range(5):
        e += cuda.shfl_xor_sync(0xffffffff, e, 16 >> s)
    for j in range(lane, x.shape[1], 32):
        o[row, j] = math.exp(x[row, j] - m) / e
def run(x, o):
    k[x.shape[0], 32](x, o)
""",
        {"x": M},
        {"o": ("f4", (20, 33))},
        lambda x: (
            np.exp(x - x.max(1, keepdims=True))
            / np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True)
        ),
    ),
    "layer norm": Honest(
        """
EPS = 1e-5
@cuda.jit
def k(x, g, o):
    r = cuda.grid(1)
    if r >= x.shape[0]:
        return
    n = x.shape[1]
    mean = 0.0
    for j in range(n):
        mean += x[r, j]
    mean /= n
    var = 0.0
    for j in range(n):
        d = x[r, j] - mean
        var += d * d
    inv = 1.0 / math.sqrt(var / n + EPS)
    for j in range(n):
        o[r, j] = (x[r, j] - mean) * inv * g[j]
def run(x, g, o):
    k[1, 32](x, g, o)
""",
        {"x": M, "g": floats(33)},
        {"o": ("f4", (20, 33))},
        lambda x, g: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * g,
    ),
    "matmul tiled, arrays on one line": Honest(
        """
T = 8
@cuda.jit
def k(a, b, c):
    sa = cuda.shared.array((T, T), float32); sb = cuda.shared.array((T, T), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0.)
    for p in range((a.shape[1] + T - 1) // T):
        sa[ty, tx] = a[y, tx + p * T] if y < a.shape[0] and tx + p * T < a.shape[1] else 0
        sb[ty, tx] = b[ty + p * T, x] if x < b.shape[1] and ty + p * T < b.shape[0] else 0
        cuda.syncthreads()
        for j in range(T):
            acc += sa[ty, j] * sb[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = acc
def run(a, b, c):
    k[((c.shape[1] + T - 1) // T, (c.shape[0] + T - 1) // T), (T, T)](a, b, c)
""",
        {"a": M, "b": N},
        {"c": ("f4", (20, 18))},
        lambda a, b: a @ b,
    ),
    "matvec": Honest(
        "@cuda.jit\n"
        "def k(a, x, o):\n"
        "    r = cuda.grid(1)\n"
        "    if r < a.shape[0]:\n"
        "        t = 0.0\n"
        "        for j in range(a.shape[1]):\n"
        "            t += a[r][j] * x[j]\n"
        "        o[r] = t\n"
        "def run(a, x, o):\n"
        "    k[1, 32](a, x, o)\n",
        {"a": M, "x": floats(33)},
        {"o": ("f4", (20,))},
        lambda a, x: a @ x,
    ),
    "transpose, padded": Honest(
        """
@cuda.jit
def k(x, o):
    tile = cuda.shared.array((8, 9), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    i = cuda.blockIdx.y * 8 + ty
    j = cuda.blockIdx.x * 8 + tx
    if i < x.shape[0] and j < x.shape[1]:
        tile[ty, tx] = x[i, j]
    cuda.syncthreads()
    i, j = cuda.blockIdx.x * 8 + ty, cuda.blockIdx.y * 8 + tx
    if i < o.shape[0] and j < o.shape[1]:
        o[i, j] = tile[tx, ty]
def run(x, o):
    k[((x.shape[1] + 7) // 8, (x.shape[0] + 7) // 8), (8, 8)](x, o)
""",
        {"x": M},
        {"o": ("f4", (33, 20))},
        lambda x: x.T,
    ),
    "histogram, shared": Honest(
        """
@cuda.jit
def k(x, o):
    h = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        h[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(h, x[i], 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(o, t, h[t])
def run(x, o):
    k[(x.size + 63) // 64, 64](x, o)
""",
        {"x": ints(16, 300)},
        {"o": ("i4", (16,))},
        lambda x: np.bincount(x, minlength=16),
        True,
    ),
    "scan, Blelloch": Honest(
        """
N = 64
@cuda.jit
def k(x, o):
    s = cuda.shared.array(N, int32)
    t = cuda.threadIdx.x
    s[2 * t] = x[2 * t]
    s[2 * t + 1] = x[2 * t + 1]
    offset = 1
    d = N >> 1
    while d > 0:
        cuda.syncthreads()
        if t < d:
            a = offset * (2 * t + 1) - 1
            b = offset * (2 * t + 2) - 1
            s[b] += s[a]
        offset *= 2
        d >>= 1
    if t == 0:
        s[N - 1] = 0
    d = 1
    while d < N:
        offset >>= 1
        cuda.syncthreads()
        if t < d:
            a = offset * (2 * t + 1) - 1
            b = offset * (2 * t + 2) - 1
            v = s[a]
            s[a] = s[b]
            s[b] += v
        d *= 2
    cuda.syncthreads()
    o[2 * t] = s[2 * t]
    o[2 * t + 1] = s[2 * t + 1]
def run(x, o):
    k[1, N // 2](x, o)
""",
        {"x": ints(9, 64)},
        {"o": ("i4", (64,))},
        lambda x: np.concatenate([[0], np.cumsum(x)[:-1]]),
    ),
    "a bitonic sort": Honest(
        """
@cuda.jit
def k(x, o):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    size = 2
    while size <= 64:
        stride = size // 2
        while stride > 0:
            other = t ^ stride
            if other > t:
                up = (t & size) == 0
                if (s[t] > s[other]) == up:
                    v = s[t]
                    s[t] = s[other]
                    s[other] = v
            cuda.syncthreads()
            stride //= 2
        size *= 2
    o[t] = s[t]
def run(x, o):
    k[1, 64](x, o)
""",
        {"x": floats(64)},
        {"o": ("f4", (64,))},
        np.sort,
    ),
    "stencil in two dimensions": Honest(
        """
@cuda.jit
def k(x, o):
    i, j = cuda.grid(2)
    n, m = x.shape
    if 1 <= i < n - 1 and 1 <= j < m - 1:
        o[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])
    elif i < n and j < m:
        o[i, j] = x[i, j]
def run(x, o):
    t = (8, 8)
    k[((x.shape[0] + 7) // 8, (x.shape[1] + 7) // 8), t](x, o)
""",
        {"x": M},
        {"o": ("f4", (20, 33))},
        lambda x: np.block(
            [
                [x[:1]],
                [
                    x[1:-1, :1],
                    0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]),
                    x[1:-1, -1:],
                ],
                [x[-1:]],
            ]
        ),
    ),
    "convolution": Honest(
        "@cuda.jit\n"
        "def k(x, w, o):\n"
        "    i = cuda.grid(1)\n"
        "    if i < o.size:\n"
        "        s = float32(0)\n"
        "        for j in range(w.size):\n"
        "            s += x[i + j] * w[j]\n"
        "        o[i] = s\n"
        "def run(x, w, o):\n"
        "    k[(o.size + 31) // 32, 32](x, w, o)\n",
        {"x": X, "w": floats(5)},
        {"o": ("f4", (296,))},
        lambda x, w: np.convolve(x, w[::-1], "valid"),
    ),
    "a batch of products in three dimensions": Honest(
        """
@cuda.jit
def k(a, b, o):
    i, j, z = cuda.grid(3)
    if z < o.shape[0] and i < o.shape[1] and j < o.shape[2]:
        t = 0.0
        for p in range(a.shape[2]):
            t += a[z, i, p] * b[z, p, j]
        o[z, i, j] = t
def run(a, b, o):
    k[(1, 2, 3), (4, 4, 2)](a, b, o)
""",
        {"a": floats(5, 4, 6), "b": floats(5, 6, 7)},
        {"o": ("f4", (5, 4, 7))},
        lambda a, b: a @ b,
    ),
    "local memory": Honest(
        "@cuda.jit\n"
        "def k(x, o):\n"
        "    w = cuda.local.array(4, float64)\n"
        "    i = cuda.grid(1)\n"
        "    if i < o.size:\n"
        "        for j in range(4):\n"
        "            w[j] = x[i] * j\n"
        "        o[i] = w[1] + w[3]\n"
        "def run(x, o):\n"
        "    k[5, 64](x, o)\n",
        {"x": X},
        {"o": ("f4", (300,))},
        lambda x: 4 * x,
    ),
    "dynamic shared memory": Honest(
        "@cuda.jit\n"
        "def k(x, o):\n"
        "    s = cuda.shared.array(0, float32)\n"
        "    t = cuda.threadIdx.x\n"
        "    s[t] = x[t]\n"
        "    cuda.syncthreads()\n"
        "    o[t] = s[cuda.blockDim.x - 1 - t]\n"
        "def run(x, o):\n"
        "    k[1, 300, 0, 1200](x, o)\n",
        {"x": X},
        {"o": ("f4", (300,))},
        lambda x: x[::-1],
    ),
    "votes of a warp": Honest(
        "@cuda.jit\n"
        "def k(x, o):\n"
        "    t = cuda.threadIdx.x\n"
        "    b = cuda.ballot_sync(0xffffffff, x[t] > 0)\n"
        "    if t == 0:\n"
        "        o[0] = cuda.popc(b)\n"
        "        o[1] = b & 1\n"
        "def run(x, o):\n"
        "    k[1, 32](x, o)\n",
        {"x": X[:32].copy()},
        {"o": ("i4", (2,))},
        lambda x: np.array([(x > 0).sum(), x[0] > 0]),
    ),
    "a count at a barrier": Honest(
        "@cuda.jit\n"
        "def k(x, o):\n"
        "    t = cuda.threadIdx.x\n"
        "    n = cuda.syncthreads_count(x[t] > 0)\n"
        "    if t == 0:\n"
        "        o[0] = n\n"
        "def run(x, o):\n"
        "    k[1, 300](x, o)\n",
        {"x": X},
        {"o": ("i4", (1,))},
        lambda x: np.array([(x > 0).sum()]),
    ),
    "argmax of rows": Honest(
        "@cuda.jit\n"
        "def k(x, o):\n"
        "    r = cuda.grid(1)\n"
        "    if r < x.shape[0]:\n"
        "        best = 0\n"
        "        for j in range(1, x.shape[1]):\n"
        "            if x[r, j] > x[r, best]:\n"
        "                best = j\n"
        "        o[r] = best\n"
        "def run(x, o):\n"
        "    k[1, 32](x, o)\n",
        {"x": M},
        {"o": ("i4", (20,))},
        lambda x: x.argmax(1),
    ),
    "embedding": Honest(
        "@cuda.jit\n"
        "def k(w, i, o):\n"
        "    r, c = cuda.grid(2)\n"
        "    if r < o.shape[0] and c < o.shape[1]:\n"
        "        o[r, c] = w[i[r], c]\n"
        "def run(w, i, o):\n"
        "    k[(2, 5), (16, 8)](w, i, o)\n",
        {"w": M, "i": ints(20, 30)},
        {"o": ("f4", (30, 33))},
        lambda w, i: w[i],
    ),
    "exchange within warps in shared memory": Honest(
        "@cuda.jit\n"
        "def k(x, o):\n"
        "    s = cuda.shared.array(64, float32)\n"
        "    t = cuda.threadIdx.x\n"
        "    s[t] = x[t]\n"
        "    cuda.syncwarp()\n"
        "    o[t] = s[t ^ 1]\n"
        "def run(x, o):\n"
        "    k[1, 64](x, o)\n",
        {"x": floats(64)},
        {"o": ("f4", (64,))},
        lambda x: x.reshape(-1, 2)[:, ::-1].ravel(),
    ),
    "a hash of 32 bits": Honest(
        "@cuda.jit\n"
        "def k(x, o):\n"
        "    i = cuda.grid(1)\n"
        "    if i < o.size:\n"
        "        h = uint32(x[i])\n"
        "        h = uint32((h ^ (h >> 16)) * 0x45d9f3b)\n"
        "        h = uint32((h ^ (h >> 16)) * 0x45d9f3b)\n"
        "        o[i] = h ^ (h >> 16)\n"
        "def run(x, o):\n"
        "    k[3, 128](x, o)\n",
        {"x": ints(1 << 30, 300)},
        {"o": ("u4", (300,))},
        lambda x: _hash(x.astype(np.uint32)),
    ),
}


def _hash(h: Any) -> Any:
    for _ in range(2):
        h = (h ^ (h >> np.uint32(16))) * np.uint32(0x45D9F3B)
    return h ^ (h >> np.uint32(16))


@pytest.mark.parametrize("name", H)
def test_an_honest_kernel_is_right(name: str, run_kernel: Any) -> None:
    honest = H[name]

    found = run_kernel(
        honest.source, honest.inputs, honest.outputs, zero=honest.zero, seeds=(1, 2, 3)
    )

    assert (found.wrong, found.said.strip()) == ("", "")
    given = map(np.asarray, honest.inputs.values())
    want = honest.want(*[v.astype(float) if v.dtype == np.float32 else v for v in given])
    np.testing.assert_allclose(found.outputs[0], want, rtol=2e-5, atol=2e-5)


def test_there_are_enough_of_them() -> None:
    assert len(H) >= 30
