"""What a test evaluates in Inspect; imported only where that is installed."""

from __future__ import annotations

from inspect_ai.model import ModelOutput
from inspect_ai.solver import solver


@solver
def saying(replies):
    """A policy without a model: Inspect's mock model asks a network how many tokens it wrote."""
    left = list(replies)

    async def solve(state, generate):
        state.output = ModelOutput.from_content("none", left.pop(0))
        return state

    return solve
