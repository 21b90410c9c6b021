"""Math-Verify as trainers call it: the gold in a box."""

from answers import serve
from math_verify import parse, verify


def judge(gold: str, response: str) -> bool:
    return verify(parse(r"\boxed{" + gold + "}"), parse(response))


serve(judge)
