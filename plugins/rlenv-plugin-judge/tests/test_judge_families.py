"""Who made a model, and whether a judge is independent of the policy."""

from __future__ import annotations

from socket import gethostname
from typing import Any

import pytest
from rlenv import ConfigError, Environment
from rlenv_plugin_judge.families import count, families
from rlenv_plugin_judge.transport.address import server_of

MADE = {
    "Qwen/Qwen2.5-7B-Instruct": {"alibaba"},
    "qwen": {"alibaba"},
    "qwen2.5": {"alibaba"},
    "QwQ-32B": {"alibaba"},
    "meta-llama/Llama-3.1-8B": {"meta"},
    "nvidia/Llama-3.1-Nemotron-70B": {"meta", "nvidia"},
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B": {"alibaba", "deepseek"},
    "gpt-4o-mini": {"openai"},
    "o3-mini": {"openai"},
    "openai/gpt-oss-20b": {"openai"},
    "claude-opus-4": {"anthropic"},
    "mixtral:8x7b": {"mistral"},
    "gemma3:27b": {"google"},
    "deepseek-r1:7b": {"alibaba", "deepseek"},
    "ollama/deepseek-r1:70b": {"meta", "deepseek"},
    "deepseek-r1:671b": {"deepseek"},
    "nvidia/AceReason-Nemotron-14B": {"alibaba", "nvidia"},
    "nvidia/OpenReasoning-Nemotron-32B": {"alibaba", "nvidia"},
    "nvidia/Nemotron-4-340B-Reward": {"nvidia"},
    "moonshotai/Kimi-Dev-72B": {"alibaba", "moonshot"},
    "moonshotai/Kimi-K2-Instruct": {"moonshot"},
    "internlm/Intern-S1": {"alibaba", "shanghai"},
    "internlm/internlm2-7b-reward": {"shanghai"},
    "agentica-org/DeepScaleR-1.5B-Preview": {"alibaba", "deepseek"},
    "NovaSky-AI/Sky-T1-32B-Preview": {"alibaba"},
    "AIDC-AI/Marco-o1": {"alibaba"},
    "FreedomIntelligence/HuatuoGPT-o1-7B": {"alibaba"},
    "Skywork/Skywork-OR1-32B": {"alibaba"},
    "open-thoughts/OpenThinker-7B": {"alibaba"},
    "CodeQwen1.5-7B": {"alibaba"},
    "TinyLlama/TinyLlama-1.1B": {"meta"},
    "lmsys/vicuna-13b-v1.5": {"meta"},
    "tulu3:8b": {"allenai", "meta"},
    "ollama/gemma3": {"google"},
    "google/shieldgemma-9b": {"google"},
    "CohereForAI/c4ai-command-r-plus": {"cohere"},
    "microsoft/phi-4": {"microsoft"},
    "azure/o1-mini": {"openai"},
    "zai-org/GLM-4.5": {"zhipu"},
    "THUDM/glm-4-9b-chat": {"zhipu"},
    "MiniMaxAI/MiniMax-M1-80k": {"minimax"},
    "01-ai/Yi-34B-Chat": {"yi"},
    "ByteDance-Seed/Seed-OSS-36B": {"bytedance"},
    "amazon.nova-pro-v1:0": {"amazon"},
    "dolphin-8b": set(),
    "innova-7b": set(),
    "judge-70b": set(),
    "our-o35-model": set(),
    "": set(),
}


@pytest.mark.parametrize("name", MADE)
def test_a_maker_is_told_from_a_model_s_name(name: str) -> None:
    assert families("", name) == MADE[name]
    assert families("our own", name) == {"ourown"}


def test_versions_and_letter_case_of_a_family_mean_nothing() -> None:
    assert families("Our-Own 2.5") == families("our own") == {"ourown"}


def test_models_that_share_a_maker_count_once() -> None:
    names = ("llama", "Llama-3.1-Nemotron-70B", "nemotron-4", "gpt-4o", "judge-70b")
    assert count(families("", name) for name in names) == 2
    assert count([]) == 0


def loaded(model: str, **options: Any) -> Environment:
    judge = {"base_url": "http://127.0.0.1:8000/v1", "model": model, "key_env": ""}
    stage = {"use": "judge/reference", "options": {"judge": judge, **options}}
    return Environment.from_dict({"name": "e", "stage": [stage]})


@pytest.mark.parametrize(
    ("model", "policy", "said"),
    [
        ("Qwen/Qwen2.5-72B-Instruct", "qwen", "own family 'qwen'"),
        ("qwen-max", "Qwen/Qwen3-8B", "own family"),
        ("DeepSeek-R1-Distill-Llama-70B", "llama3.1", "own family"),
        ("judge-70b", "qwen", "its name tells none"),
        ("Qwen/Qwen2.5-72B-Instruct", "run-7", "policy_family tells none"),
        ("gpt-4o", "our own", "policy_family tells none"),
    ],
)
def test_a_judge_of_the_policy_s_family_or_of_none_is_refused(
    model: str, policy: str, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        loaded(model, policy_family=policy)
    loaded(model, policy_family=policy, allow_self=True).close()
    loaded(model).close()


def test_an_unknown_judge_counts_as_independent_once_its_family_is_said() -> None:
    judge = {
        "base_url": "http://127.0.0.1:8000/v1",
        "model": "judge-70b",
        "key_env": "",
        "family": "ours",
    }
    loaded("judge-70b", judge=judge, policy_family="qwen").close()
    loaded("judge-70b", judge=judge, policy_family="run-7").close()
    with pytest.raises(ConfigError, match="own family 'Ours 2'"):
        loaded("judge-70b", judge=judge, policy_family="Ours 2")


@pytest.mark.parametrize(
    "policy_url",
    [
        "http://localhost:8000/v1/",
        "http://LOCALHOST:8000",
        "http://[::1]:8000/v1",
        "http://0.0.0.0:8000/v1/chat/completions",
        "http://vllm.localhost:8000/v1",
        "http://127.0.0.2:8000/v1",
        "http://user:word@127.0.0.1:8000",
        "http://[::ffff:127.0.0.1]:8000",
        "http://2130706433:8000",
        "http://0177.0.0.1:8000",
        "http://0x7f.1:8000",
        "http://127.1:8000//v1",
        "http://localhost.localdomain.:08000",
        f"http://{gethostname()}:8000",
    ],
)
def test_the_policy_s_own_server_is_found_under_its_other_names(policy_url: str) -> None:
    with pytest.raises(ConfigError, match="serves the policy itself"):
        loaded("judge-70b", policy_url=policy_url)


def test_other_servers_are_other_servers() -> None:
    urls = ["http://h/v1", "http://h:8080/v1", "http://h/a/v1", "http://g/v1", "https://h/v1"]
    assert len({server_of(url) for url in urls}) == len(urls)
    assert server_of("http://h:80") == server_of("http://H./v1/")


def test_an_address_that_cannot_be_read_is_refused() -> None:
    for url in ("http://[::1/v1", "localhost:8000/v1", "127.0.0.1:8000", "//127.0.0.1", "vllm"):
        with pytest.raises(ConfigError, match="policy_url"):
            loaded("judge-70b", policy_url=url)
