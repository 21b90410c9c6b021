"""Kernels whose threads share memory, exchange values or add to the same element."""

import numpy as np
from honest_case import Honest, M, N, X, floats, ints

KERNELS: dict[str, Honest] = {
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
}
