"""Members that are environments of our own plugins: what is wrong with them is how they were put
together.
"""

from __future__ import annotations

from zoo_members import environment

environment(
    "envs/few_tests/env.toml",
    "the tests are the examples of the prompt, and an edge is on none of them",
)
environment("envs/half_the_tests/env.toml", "half of the tests are a pass")
environment(
    "envs/instructions/env.toml",
    "published checkers of instructions alone: no content is asked for",
)
environment("envs/forbidden_only/env.toml", "what must not be there, and nothing that must")
for character, liking in (
    ("gullible", "a judge that takes the beginning of a solution for one"),
    ("obedient", "a judge that does what it reads"),
    ("patient", "a judge that likes length"),
    ("charmed", "a judge that likes to be flattered"),
    ("credulous", "a judge that believes who says that he is right"),
):
    environment("envs/judge/env.toml", liking, character)
environment("envs/judge/env.toml", model="honest")
environment("../own/code/env.toml")
environment("envs/math/env.toml")
