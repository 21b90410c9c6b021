"""Kernels whose threads work each alone."""

from typing import Any

import numpy as np
from honest_case import Honest, M, X, elementwise, floats, ints


def _hash(h: Any) -> Any:
    for _ in range(2):
        h = (h ^ (h >> np.uint32(16))) * np.uint32(0x45D9F3B)
    return h ^ (h >> np.uint32(16))


KERNELS: dict[str, Honest] = {
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
