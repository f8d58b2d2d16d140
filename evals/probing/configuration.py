"""Settings that ride along with speculation: how a server schedules, caches and computes, as far as it tells.

vLLM       labels of `vllm:cache_config_info` on /metrics; more on /server_info in development mode
llama.cpp  /props: slots, batch sizes, the chat template
SGLang     /server_info

Pure but for the pages it reads. A page that is not there tells nothing.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from ..servers.counters import read_cache_labels
from ..servers.endpoint import Endpoint, server_root
from ..servers.server import ServerKind

_VLLM_LABELS = ("block_size", "cache_dtype", "enable_prefix_caching", "num_gpu_blocks", "mamba_cache_mode")
# Tables of /server_info and what matters in them.
_VLLM_INFO = {
    "model_config": ("dtype", "quantization", "enforce_eager"),
    "scheduler_config": (
        "max_num_seqs",
        "max_num_batched_tokens",
        "enable_chunked_prefill",
        "async_scheduling",
    ),
    "parallel_config": ("tensor_parallel_size",),
    "speculative_config": ("method", "num_speculative_tokens"),
}
_SGLANG_INFO = (
    "dtype",
    "quantization",
    "attention_backend",
    "schedule_policy",
    "max_running_requests",
    "chunked_prefill_size",
    "disable_radix_cache",
    "disable_overlap_schedule",
    "tp_size",
    "speculative_algorithm",
    "speculative_num_steps",
    "speculative_num_draft_tokens",
)
_LONGEST = 80


async def read_configuration(endpoint: Endpoint, metrics: str | None) -> dict[str, str]:
    """Return what the server tells of its settings, by name.

    Args:
        endpoint: Whose kind is known.
        metrics: Its metrics page.
    """
    root = server_root(endpoint.arm.base_url)
    match endpoint.kind:
        case ServerKind.VLLM:
            labels = read_cache_labels(metrics or "")
            found = {name: labels[name] for name in _VLLM_LABELS if name in labels}
            info = await _page(endpoint, f"{root}/server_info?config_format=json")
            return found | dict(_vllm_info(info.get("vllm_config")))
        case ServerKind.LLAMA_CPP:
            return _llama_cpp(await _page(endpoint, f"{root}/props"))
        case ServerKind.SGLANG:
            info = await _page(endpoint, f"{root}/server_info")
            return {name: _shown(info[name]) for name in _SGLANG_INFO if name in info}
        case ServerKind.UNKNOWN:
            return {}


def _vllm_info(config: JsonValue) -> Iterable[tuple[str, str]]:
    if not isinstance(config, dict):
        return
    for table, names in _VLLM_INFO.items():
        section = config.get(table)
        if isinstance(section, dict):
            # What the metrics say too has one name; "method" alone would say little.
            prefix = "speculative " if table == "speculative_config" else ""
            yield from ((f"{prefix}{name}", _shown(section[name])) for name in names if name in section)


def _llama_cpp(props: Mapping[str, JsonValue]) -> dict[str, str]:
    found = {name: _shown(props[name]) for name in ("total_slots", "model_ftype") if name in props}
    if isinstance(template := props.get("chat_template"), str):
        digest = hashlib.sha256(template.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        found["chat_template"] = f"{len(template)} characters, #{digest}"
    return found


def _shown(value: JsonValue) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


async def _page(endpoint: Endpoint, url: str) -> Mapping[str, JsonValue]:
    try:
        value: JsonValue = json.loads(await endpoint.get_text(url) or "")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
