"""The environment variables that workers of functions see."""

from __future__ import annotations

import os

from .values import Env

# What interpreters, numerics, caches of models and TLS need; none of these holds a secret by its
# purpose.  Proxies are left out, since their URLs hold passwords.
NAMES = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TZDIR", "TERM",
    "NO_COLOR", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
    "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV",
    "LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH",
    "MALLOC_ARENA_MAX", "NVIDIA_VISIBLE_DEVICES", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE",
    "HF_DATASETS_CACHE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_CACHE", "TRANSFORMERS_OFFLINE",
    "TORCH_HOME", "NLTK_DATA", "TIKTOKEN_CACHE_DIR", "TOKENIZERS_PARALLELISM",
    "VECLIB_MAXIMUM_THREADS", "RAYON_NUM_THREADS", "COVERAGE_PROCESS_START", "MPLBACKEND",
    "MPLCONFIGDIR",
})  # fmt: skip
BEGINNINGS = (
    "LC_", "PYTHON", "RLENV_", "CUDA_", "NVIDIA_", "NCCL_", "ROCR_", "HIP_", "HSA_", "OMP_", "KMP_",
    "GOMP_", "MKL_", "OPENBLAS_", "BLIS_", "NUMEXPR_", "NUMBA_", "PYTORCH_", "TRITON_", "XLA_",
)  # fmt: skip
SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD")  # ends of names that are never seen unasked


def is_visible(name: str) -> bool:
    """Whether a function's worker sees this variable without being allowed to."""
    known = name in NAMES or name.startswith(BEGINNINGS)
    return known and not name.upper().endswith(SECRETS)


def visible_env(allowed: Env) -> dict[str, str]:
    """The variables that are visible to all functions, and those that are allowed.

    All where that is None.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if allowed is None or name in allowed or is_visible(name)
    }


def is_hidden(name: str) -> bool:
    """Whether this variable is set here, and a function's worker does not see it unasked."""
    return name in os.environ and not is_visible(name)
