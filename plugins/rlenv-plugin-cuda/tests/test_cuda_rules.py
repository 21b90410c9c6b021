"""What an answer may not say: there is no way from a kernel to the interpreter that runs it."""

import ast
from typing import Any

import numpy as np
import pytest
from rlenv_plugin_cuda.guest.kernel_rules import Refused, read

HEAD = "import math\nfrom numba import cuda, float32\n"
KERNEL = "@cuda.jit\ndef k(a, o):\n    {}\ndef run(a, o):\n    {}\n"


def kernel(body: str, plan: str = "k[1, 32](a, o)", above: str = "") -> str:
    return HEAD + above + KERNEL.format(body, plan)


IN_KERNELS = [
    "o.__class__", "x = o.__class__.__base__", "o[0] = a.data", "a.T[0] = 1", "o.shape = (1,)",
    "x = '{0.__class__}'.format(o)", "x = f'{o}'", "x = 'text'", "x = b'text'", "x = None",
    "x = ...", "x = [1]", "x = {1: 2}", "x = {1}", "x = lambda: 1", "x = [i for i in range(3)]",
    "x = (i for i in range(3))", "(x := 1)", "import os", "from os import system", "global a",
    "del a", "raise a", "assert a", "yield a", "x = yield",
    "try:\n        pass\n    finally:\n        pass", "with a:\n        pass",
    "class C:\n        pass", "def f():\n        pass", "async def f():\n        pass",
    "x = await a", "return a", "x = a[:]", "x = a[0:1]", "x = a[...]", "x = a @ a", "x = a is o",
    "x = 1 in a", "print(a)", "eval('1')", "x = open", "x = getattr(a, 'b')", "x = type(a)",
    "x = vars()", "x = globals()", "x = __import__('os')", "x = __builtins__", "_c.block = 1",
    "x = _c", "_h.launch()", "x = _div(1, 2)", "__t[0] = 1", "x = __s", "cuda.grid = 1",
    "cuda.jit(a)", "x = cuda", "x = math", "x = cuda.atomic", "x = math.sqrt", "math.pi = 3",
    "math.pi += 1", "cuda.threadIdx.x = 1", "for math.pi in range(3):\n        pass",
    "math.pi, x = 1, 2", "x = math.__dict__", "x = math.factorial(5)", "x = cuda.current_context()",
    "x = cuda.shared.array(a.size, float32)", "x = cuda.to_device(a)", "cuda.syncthreads(*a)",
    "float32 = 1", "cuda = 1", "range = 1", "k = 1", "run = 1",
    "for range in range(3):\n        pass", "for i in a:\n        pass",
    "for i in range(3):\n        pass\n    else:\n        pass",
    "while a:\n        pass\n    else:\n        pass", "k(a, o)", "k[1, 1](a, o)", "run(a, o)",
    "x = max(*a)", "x = max(a, key=a)", "x = ªª", "x = 0x" + "f" * 300, "x: f() = 3", "x: 3",
    "match a:\n        case 1:\n            pass", "a.size += 1", "x = a.shape.count",
    "x = (1).real", "x = 1 .__class__",
]  # fmt: skip


@pytest.mark.parametrize("body", IN_KERNELS, ids=range(len(IN_KERNELS)))
def test_a_kernel_may_not_say_it(body: str) -> None:
    with pytest.raises(Refused):
        read(kernel(body))


IN_PLANS = [
    "o[0] = 1", "x = a[0]", "x = a + o", "k(a, o)", "k[1, 1]", "k[1, 1](a)", "k[1, 1](a, o, o)",
    "k[1, 1](*a)", "k[1, 1](a, o=o)", "x = k", "j = k[1, 1]", "j[1, 1](a, o)", "a.copy_to_host()",
    "x = cuda.grid(1)", "x = cuda.threadIdx.x", "cuda.syncthreads()", "cuda.atomic.add(o, 0, 1)",
    "return o.size", "return 1", "cuda.select_device(0)", "x = cuda.to_device(a)", "cuda.close()",
    "x = cuda.shared.array(1, float32)", "o = a", "math.os", "cuda.device_array.__globals__",
    "k.py_func(a, o)", "k.forall(3)(a, o)", "exit()", "while True: cuda.jit",
    "x = a.shape[0].__class__", "x = int('1')", "k[1, 1, lambda: 0](a, o)",
]  # fmt: skip


@pytest.mark.parametrize(
    "plan", [p for p in IN_PLANS if p not in ("x = a + o", "o = a", "x = a[0]")]
)
def test_a_plan_may_not_say_it(plan: str) -> None:
    with pytest.raises(Refused):
        read(kernel("pass", plan))


ABOVE = [
    "import os\n",
    "import math.os\n",
    "from math import *\n",
    "from . import a\n",
    "from math import nothing\n",
    "import numba.core\n",
    "from numba import njit\n",
    "from numba.cuda import to_device\n",
    "from numpy import load\n",
    "import numpy.random\n",
    "from numba.cuda.cudadrv import driver\n",
    "X = []\n",
    "X = {}\n",
    "X = 'a'\n",
    "X = lambda: 1\n",
    "X = max\n",
    "X = open\n",
    "X, Y = 1, 2\n",
    "X = Y = 1\n",
    "X: int = f()\n",
    "X[0] = 1\n",
    "X.y = 1\n",
    "__c = 1\n",
    "__s = 1\n",
    "cuda = 1\n",
    "range = 3\n",
    "X = 9 ** 9 ** 9\n",
    "X = 1 << 10000\n",
    "print(1)\n",
    "if True:\n    pass\n",
    "for i in range(3):\n    pass\n",
    "class C:\n    pass\n",
    "def f():\n    pass\n",
    "def range(n):\n    pass\n",
    "@cuda.jit\ndef run(a, o):\n    pass\n",
    "@cuda.jit('x', 'y')\ndef f():\n    pass\n",
    "@cuda.jit('__import__(1)+1')\ndef f():\n    pass\n",
    "@cuda.jit(f'{print(1)}')\ndef f():\n    pass\n",
    "@cuda.jit(lambda: 1)\ndef f():\n    pass\n",
    "@print\ndef f():\n    pass\n",
    "@cuda.jit(debug=print(1))\ndef f():\n    pass\n",
    "@cuda.jit(link=['x'])\ndef f():\n    pass\n",
    "@cuda.jit\n@cuda.jit\ndef f():\n    pass\n",
    "@cuda.jit\ndef f(a=print(1)):\n    pass\n",
    "@cuda.jit\ndef f(a: print(1)):\n    pass\n",
    "@cuda.jit\ndef f() -> print(1):\n    pass\n",
    "@cuda.jit\ndef f(*a):\n    pass\n",
    "@cuda.jit\ndef f(*, a):\n    pass\n",
    "@cuda.jit\ndef f(__c):\n    pass\n",
    "@cuda.jit\ndef __f(a):\n    pass\n",
    "@cuda.jit\ndef k(a):\n    pass\n",
    "@cuda.jit\ndef f(a):\n    f(a)\n",
    (
        "@cuda.jit(device=True)\n"
        "def f(a):\n"
        "    return g(a)\n"
        "@cuda.jit(device=True)\n"
        "def g(a):\n"
        "    return f(a)\n"
    ),
    "import ｏｓ\n",
    "from numba import cuda as __c\n",
    "from numba.cuda import threadIdx\n",
    "from numba.cuda import atomic\n",
    "import numpy as np\nX = np.exp(1)\n",
    "import math as cuda\n",
    "X = -" + "-" * 60000 + "1\n",
    "X = " + "(" * 5000 + "1\n",
    "X = " + "1+" * 20000 + "1\n",
    "X = 0x" + "f" * 60000 + "\n",
    "#" * 70000 + "\n",
    "\0\n",
    "X = 1\nX = 2\n",
]


@pytest.mark.parametrize("above", ABOVE, ids=range(len(ABOVE)))
def test_the_top_may_not_say_it(above: str) -> None:
    with pytest.raises(Refused):
        read(kernel("pass", above=above))


def test_letters_that_read_like_others_are_those_others() -> None:
    with pytest.raises(Refused, match="underscore"):
        read(kernel("x = _ｃ"))


def test_a_refusal_names_the_line_and_the_rule() -> None:
    with pytest.raises(Refused, match=r"line 5: .*underscore"):
        read(kernel("x = __import__"))


@pytest.mark.parametrize(
    "above",
    [
        'if __name__ == "__main__":\n    import os\n    os.abort()\n',
        '__all__ = ["run"]\n',
        "from numba import cuda\n",
        "from numba import void\n",
        "from numba import types\nfrom numba.types import uint8\nX = types.float32(1)\n",
        "_T = 1\n",
        "import numpy as np\nX = np.float32(1e-5)\nY = math.sqrt(2.0)\n",
        "def cdiv(x: int, y: 'int') -> list[int]:\n    'Blocks.'\n    return (x + y - 1) // y\n",
        "@cuda.jit\ndef f(a: 'float32[:]', b: np.ndarray[1], c: int | None):\n    pass\n",
    ],
)
def test_what_means_nothing_to_a_kernel_may_stand_at_the_top(above: str) -> None:
    assert read(kernel("pass", above=above)).functions.keys() >= {"k", "run"}


@pytest.mark.parametrize(
    "above",
    [
        'if __name__ == "__main__":\n    pass\nelse:\n    import os\n',
        'if __name__ != "__main__":\n    import os\n',
        "def f(x):\n    return f(x)\n",
        "def f(x):\n    return x + x\n"
        + "".join(
            f"def f{i}(x):\n    return f{i - 1 if i else ''}(x) + f{i - 1 if i else ''}(x)\n"
            for i in range(30)
        ),
        "def f(x):\n    return " + "x + " * 3000 + "x\n",
        "def f(x):\n    return open(x)\n",
        "def f(x):\n    return [y for y in x]\n",
    ],
    ids=range(7),
)
def test_a_helper_of_a_plan_is_an_expression_with_an_end(above: str) -> None:
    name = "f29" if "f29" in above else "f"
    with pytest.raises(Refused):
        read(kernel("pass", plan=f"x = {name}(3)", above=above))


def test_private_names_mean_what_the_program_means(run_kernel: Any) -> None:
    source = (
        "_T = 4\n"
        "@cuda.jit\n"
        "def _c(_h, _at):\n"
        "    _div = cuda.grid(1)\n"
        "    T_ = _div\n"
        "    if _div < _at.size:\n"
        "        _at[T_] = _h[_div] / _T\n"
        "def run(a, o):\n"
        "    _c[1, 32](a, o)\n"
    )
    values = np.arange(5, dtype=np.float32)
    found = run_kernel(source, {"a": values}, {"o": ("f4", (5,))})

    assert (found.wrong, list(found.outputs[0])) == ("", list(values / 4))


def test_there_must_be_a_plan() -> None:
    with pytest.raises(Refused, match="no function `run"):
        read(HEAD + "@cuda.jit\ndef k(a, o):\n    pass\n")


def test_annotations_that_are_names_of_types_are_taken_off() -> None:
    source = (
        HEAD
        + "@cuda.jit\ndef k(a: float32, o: float32) -> None:\n    x: float32 = 1\n    o[0] = x\ndef"
        " run(a, o):\n    k[1, 1](a, o)\n"
    )

    function, _ = read(source).functions.values()

    assert function.node.returns is None
    assert not any(isinstance(node, ast.AnnAssign) for node in ast.walk(function.node))
    assert all(argument.annotation is None for argument in function.node.args.args)


def test_reading_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Refused):
        read(HEAD + "print('hello')\n")

    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "signature", ["'void(float32[:], float32[:])'", "(float32[:], float32[:, ::1])"]
)
def test_a_signature_is_taken_off(signature: str) -> None:
    source = kernel("o[0] = 1").replace("@cuda.jit", f"@cuda.jit({signature})")

    (decorator,) = read(source).functions["k"].node.decorator_list

    assert isinstance(decorator, ast.Call)
    assert decorator.args == []
