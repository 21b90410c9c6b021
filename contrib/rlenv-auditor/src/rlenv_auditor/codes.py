"""Reasons for programs: stable identifiers of what a finding shows, and of why a probe was skipped
or did not finish.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["FOUND", "SKIPPED", "code_of"]

FOUND: Mapping[str, str] = {
    "wrong-response-paid": "a response that solves nothing passes",
    "wrong-response-nearly-paid": "a wrong response earns 0.9 of the pass mark or more",
    "right-response-rejected": "a right response does not pass",
    "no-reward": "a response gets no reward: a fault, a hang or a crash",
    "reward-differs": "the same response gets another reward",
    "reward-out-of-range": "a reward is not a finite number in [0, 1]",
    "reward-not-a-number": "what is returned is not a number",
    "task-changed": "a call changes its task",
    "network-used": "a reward calls a host on a network",
    "answer-revealed": (
        "the prompt, a detail, an error or a sandbox reveals the answer or the tests"
    ),
    "response-executed": "the response runs in the process of the verifier",
    "inputs-from-constant-seed": "test inputs are drawn with a constant seed",
    "undeclared-file-read": (
        "a function reads a file that it does not declare, so no fingerprint covers it"
    ),
    "style-raises-reward": "style raises the reward of a wrong response",
    "partial-reward-for-nothing": "what solves nothing earns a part of the reward",
    "verifiers-disagree": "a second verifier decides differently",
    "comparison-biased": "order, names or decoration decide a comparison",
    "policy-paid-for-nothing": "a policy that solves nothing earns more than the floor",
    "other": "another finding, of a probe of a plugin",
}
SKIPPED: Mapping[str, str] = {
    "no-right-response": "no right response is known",
    "too-few-tasks": "fewer tasks have a right response than the probe needs",
    "right-response-not-paid": "no right response is paid, so there is nothing to compare with",
    "other-kind": "the probe is for another kind of verifier",
    "nothing-to-try": "no response of the probe fits these tasks",
    "not-asked-for": "an option, or a prompt, does not ask for it",
    "not-installed": "a package is not installed, or the source cannot be read",
    "unscored": "every response was left unscored",
    "fail-fast": "--fail-fast ended the audit at an earlier finding",
    "budget": "the budget ended first",
    "machine-busy": "the machine was too busy to score some responses",
    "other": "another reason, of a probe of a plugin",
}
BY_MUST = {"fail": "wrong-response-paid", "pass": "right-response-rejected", "score": "no-reward"}
BY_MEASURE = {
    "exploit": "wrong-response-paid", "fn": "right-response-rejected", "nondet": "reward-differs",
    "fault": "no-reward", "leak": "answer-revealed", "lift": "style-raises-reward",
    "disagree": "verifiers-disagree", "free": "partial-reward-for-nothing",
}  # fmt: skip
BY_PROBE = {
    "range.finite": "reward-out-of-range", "range.type": "reward-not-a-number",
    "range.purity": "task-changed", "range.network": "network-used",
    "exploits.executed": "response-executed", "policies.nothing": "policy-paid-for-nothing",
    "secrecy.seeds": "inputs-from-constant-seed", "files.declared": "undeclared-file-read",
}  # fmt: skip


def code_of(probe: str, measure: str) -> str:
    """The code of a finding of this probe, by what its rate measures."""
    if probe in BY_PROBE:
        return BY_PROBE[probe]
    if probe.startswith("judges."):
        return "comparison-biased"
    return BY_MEASURE.get(measure, "other")
