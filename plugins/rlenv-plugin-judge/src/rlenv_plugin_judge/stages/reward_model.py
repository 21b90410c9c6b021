"""``judge/reward-model``: the number that a reward model or classifier behind a server gives a
response.
"""

from __future__ import annotations

import json
import math
from typing import Any, Literal

from attrs import frozen
from rlenv import Attempt, ConfigError, Outcome, VerifierFault
from rlenv.authoring import Safe

from rlenv_plugin_judge.judging import Judging, blank, readable
from rlenv_plugin_judge.protocol.ask import forget
from rlenv_plugin_judge.protocol.envelope import sendable
from rlenv_plugin_judge.transport.errors import unavailable
from rlenv_plugin_judge.transport.request import Reply, Request

__all__ = ["RewardModel"]

_TEXTS = {"/classify": "input", "/pooling": "input", "/predict": "inputs"}


@frozen(kw_only=True, slots=False)
class RewardModel(Judging):
    """One number for a response, from a server that classifies texts: vLLM, SGLang,
    text-embeddings-inference.

    ``judge.base_url`` is the address that ``route`` is appended to.  The model reads the task's
    prompt and the visible response.  A number r counts as it is, or as ``1 / (1 + exp(-(r - center)
    / spread))``; a calibration may follow.

    Args:
        route: "/classify" (vLLM, SGLang: ``probs``), "/pooling" (vLLM: ``data``), "/score" (vLLM:
            the prompt and the response as a pair) or "/predict" (text-embeddings-inference:
            ``score``).
        template: the text that is sent, with ``{prompt}`` and ``{response}``; when "", the two are
            sent as messages, which the server writes by its model's chat template.  "/score" needs
            none, "/predict" needs one.
        label: which of several probabilities counts, from 0; -1 is the last.  The answer of
            "/predict" is sorted by probability: where it has several labels, say the name of the
            one that counts.
        scale: "probability" where the numbers lie in [0, 1], "logistic" for any other number.
        center, spread: of the logistic curve: the number that is worth 1/2, and how far from it
            0.73 is.
    """

    route: Literal["/classify", "/pooling", "/score", "/predict"] = "/classify"
    template: Safe[str] = ""
    label: Safe[int | str] = -1
    scale: Literal["probability", "logistic"] = "probability"
    center: float = 0.0
    spread: float = 1.0

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if not self.spread > 0.0:
            raise ConfigError(f"spread is a number above 0, not {self.spread!r}")
        holds = [self.template.count(name) for name in ("{prompt}", "{response}")]
        if self.template and (not holds[0] or holds[1] != 1):
            raise ConfigError("template holds {prompt} and {response} once, as in the training")
        wanted = {"/predict": True, "/score": False}.get(self.route, bool(self.template))
        if bool(self.template) != wanted:
            said = "wants one" if wanted else "takes none"
            raise ConfigError(f"template: the route {self.route} {said}")
        if isinstance(self.label, str) and self.route != "/predict":
            raise ConfigError(f"label: the route {self.route} wants the number of a label")

    @readable
    async def check(self, attempt: Attempt) -> Outcome:
        """Ask once.

        Raises:
            VerifierFault: there was no number, or one that ``scale`` does not allow.
        """
        if nothing := blank(attempt.visible):
            return nothing
        request = self._request(sendable(attempt.task.prompt), sendable(attempt.visible))
        client = self.judge.client()
        reply = await client.send(request)
        try:
            number = self._number(reply)
            scaled = self._scaled(number)
        except VerifierFault:
            forget(client, [request])  # a retry, or another option, may help
            raise
        score, done = self.applied(scaled, attempt.visible)
        said = {"model": reply.model, "cached": reply.cached, "tokens": reply.usage.total}
        data = {"number": round(number, 6), **done, "judge": said}
        return Outcome(score, f"the reward model gives {number:.4g}", data)

    def _request(self, prompt: str, response: str) -> Request:
        if self.route == "/score":
            return Request("", (), {"text_1": prompt, "text_2": response}, self.route)
        if self.template:
            before, _, after = self.template.partition("{response}")
            text = before.replace("{prompt}", prompt) + response + after.replace("{prompt}", prompt)
            return Request("", (), {_TEXTS[self.route]: text}, self.route)
        said = ({"role": "user", "content": prompt}, {"role": "assistant", "content": response})
        return Request("", said, {}, self.route)

    def _number(self, reply: Reply) -> float:
        row = json.loads(reply.text)
        found: Any = next(
            (row[k] for k in ("probs", "score", "data", "embedding") if k in row), None
        )
        if isinstance(found, list):
            found = dict(enumerate(found)) | dict(enumerate(found, -len(found)))
        if isinstance(found, dict):
            found = found.get(self.label)
        if type(found) not in (int, float) or not -1e308 < found < 1e308:
            raise self._fault(f"no finite number at label = {self.label!r} of {self.route}")
        return float(found)

    def _scaled(self, number: float) -> float:
        if self.scale == "logistic":
            return 0.5 + 0.5 * math.tanh((number - self.center) / (2.0 * self.spread))
        if not 0.0 <= number <= 1.0:
            raise self._fault(f'the number {number:.4g} is no probability: say scale = "logistic"')
        return number

    def _fault(self, why: str) -> VerifierFault:
        return unavailable(f"the reward model {self.judge.model!r}: {why}", transient=False)
