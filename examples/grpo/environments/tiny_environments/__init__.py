"""Environments that a model of two layers learns in a minute, by the names in
``pyproject.toml``.
"""

MATH, CODE, CONSTRAINT, JUDGE, LEAKY, EVOLVING = (
    f"{name}.toml" for name in ("math", "code", "constraint", "judge", "leaky", "evolving")
)
