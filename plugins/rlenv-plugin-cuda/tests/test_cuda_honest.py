"""Kernels as people write them, against numpy: none is lost, whatever order its threads come in."""

from typing import Any

import honest_alone
import honest_together
import numpy as np
import pytest

H = {**honest_alone.KERNELS, **honest_together.KERNELS}


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
