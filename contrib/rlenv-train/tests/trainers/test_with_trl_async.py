"""A run of AsyncGRPOTrainer on a CPU: its process for rollouts, its protocol with a server, and
``trl_reward``.

Three things are not those of a run on a GPU: the server is a small one of this file, which speaks
vLLM's protocol and samples from a random model; the weights reach it through memory instead of
NCCL; and torch computes the attention.
"""

from __future__ import annotations

import json
import math
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from rlenv_train import trl_reward

pytest.importorskip("trl", reason="TRL is not installed here: `make test-trainers` runs this")

import torch
from datasets import Dataset
from trl.experimental.async_grpo import (
    AsyncGRPOConfig,
    AsyncGRPOTrainer,
    async_grpo_trainer,
    async_rollout_worker,
    packing,
)
from trl_cases import CHAT_SIGNS, chat_tokenizer, model

END = CHAT_SIGNS.index("<|im_end|>")
VERIFIER = """
def is_digit(response):
    if response[:1].islower():
        raise ConnectionError("the sandbox is gone")
    return response[:1].isdigit()
"""
ENVIRONMENT = """
name = "digits"
[[stage]]
use = "./verifier.py:is_digit"
"""


class Server(ThreadingHTTPServer):
    """Speaks what the trainer asks of vLLM, and samples from a model of its own."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.policy = model(signs=CHAT_SIGNS, longest=512)
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def completion(self, request):
        ids = list(request["prompt"])
        sampled = []
        logprobs = []
        generator = torch.Generator().manual_seed(request["seed"])
        with self.lock, torch.no_grad():
            while len(sampled) < request["max_tokens"] and sampled[-1:] != [END]:
                found = self.policy(torch.tensor([ids + sampled])).logits[0, -1].log_softmax(-1)
                sampled.append(int(torch.multinomial(found.exp(), 1, generator=generator)))
                logprobs.append(float(found[sampled[-1]]))
        return {"choices": [{"token_ids": sampled, "logprobs": {"token_logprobs": logprobs}}]}


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer({"data": [{"max_model_len": 512}]} if self.path == "/v1/models" else {})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
        self.answer(self.server.completion(request) if self.path == "/v1/completions" else {})

    def answer(self, body):
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class InMemory:
    """Hands the weights of the trainer to the server's model."""

    def __init__(self, server):
        self.server = server
        self.sent = 0

    def init_weight_transfer(self):
        pass

    pause = resume = destroy = init_weight_transfer

    def send_weights(self, iterator):
        given = {name: value.detach().float() for name, value in iterator}
        with self.server.lock:
            self.server.policy.load_state_dict(given)
        self.sent += 1


def flash_attn_varlen_func(q, k, v, cu_q, cu_k, max_q, max_k, softmax_scale=None, causal=True, **_):
    """What flash attention computes: each sequence alone, its queries at the end of its keys."""
    made = []
    for at in range(len(cu_q) - 1):
        one_q = q[cu_q[at] : cu_q[at + 1]]
        one_k = k[cu_k[at] : cu_k[at + 1]]
        one_v = v[cu_k[at] : cu_k[at + 1]]
        mask = torch.ones(len(one_q), len(one_k), dtype=torch.bool).tril(len(one_k) - len(one_q))
        found = torch.nn.functional.scaled_dot_product_attention(
            *(part.transpose(0, 1)[None] for part in (one_q, one_k, one_v)),
            attn_mask=mask,
            scale=softmax_scale,
        )
        made.append(found[0].transpose(0, 1))
    return torch.cat(made)


@pytest.fixture
def server():
    made = Server()
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def test_the_asynchronous_trainer_trains_on_rewards_of_rlenv(tmp_path, server, monkeypatch, capfd):
    monkeypatch.setattr(async_rollout_worker, "is_vllm_available", lambda: True)
    monkeypatch.setattr(async_grpo_trainer, "get_peak_flops_per_device", lambda *_: 1.0)  # of a GPU
    monkeypatch.setattr(
        packing,
        "_flash_attn",
        lambda: SimpleNamespace(flash_attn_varlen_func=flash_attn_varlen_func),
    )
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    (tmp_path / "verifier.py").write_text(VERIFIER)
    (tmp_path / "env.toml").write_text(ENVIRONMENT)
    model(signs=CHAT_SIGNS, longest=512).save_pretrained(tmp_path / "model")
    transfer = InMemory(server)
    config = AsyncGRPOConfig(
        output_dir=str(tmp_path / "out"),
        max_steps=2,
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=4,
        learning_rate=1e-3,
        report_to=[],
        use_cpu=True,
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
        seed=0,
        vllm_server_base_url=server.url,
        token_budget=512,
        weight_sync_steps=1,
        dtype="float32",
        max_inflight_tasks=8,
        bf16=False,
    )
    rows = Dataset.from_list(
        [{"prompt": [{"role": "user", "content": f"Say {n}."}]} for n in range(8)]
    )
    before = {name: value.clone() for name, value in server.policy.state_dict().items()}
    trainer = AsyncGRPOTrainer(
        str(tmp_path / "model"),
        trl_reward(tmp_path / "env.toml"),
        config,
        rows,
        processing_class=chat_tokenizer(),
        weight_transfer=transfer,
    )
    trainer.train()

    assert trainer.state.global_step == 2
    assert transfer.sent >= 2
    after = server.policy.state_dict()
    assert any(not torch.equal(value, before[name]) for name, value in after.items())
    steps = [row for row in trainer.state.log_history if "rewards/rlenv" in row]
    assert all(0 <= float(row["rewards/rlenv"]) <= 1 for row in steps)  # over the scored responses
    assert all(math.isfinite(row["loss"]) and row["grad_norm"] > 0 for row in steps)
    assert "unscored: unavailable at is_digit" in capfd.readouterr().err
