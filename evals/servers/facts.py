"""What a server says of itself before a run: its kind, its context, and whether it speculates.

The pages and their traps differ by server: llama.cpp's /props says "none" even when speculation is on, so
/slots decides there; vLLM shows `vllm:spec_decode_*` on /metrics only where speculation is configured; no
metrics page says nothing at all.
"""

from collections.abc import Mapping

from pydantic import JsonValue

from .counters import read_kv_tokens
from .endpoint import Endpoint, server_root
from .page import read_json, read_object
from .server import ServerFacts, ServerKind, Speculating


async def read_facts(endpoint: Endpoint) -> ServerFacts:
    """Ask the server's own pages.

    Raises:
        UserError: Nobody answers, or the key is refused.
    """
    root, model = server_root(endpoint.arm.base_url), endpoint.arm.model
    listing = read_object(await endpoint.get_text("/models"))
    rows = listing.get("data")
    models = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    names = tuple(name for row in models if isinstance(name := row.get("id"), str))
    owner = next((row.get("owned_by") for row in models), None)
    match owner:
        case "llamacpp":
            return await _llama_cpp(endpoint, root, names)
        case "vllm":
            return await _vllm(endpoint, names, next((r for r in models if r.get("id") == model), models[0]))
        case "sglang":
            info = read_object(await endpoint.get_text(f"{root}/server_info"))
            return ServerFacts(
                ServerKind.SGLANG,
                _string(info.get("version")),
                names,
                _count(info.get("context_length")) or _count(models[0].get("max_model_len")),
                _sglang_speculating(info),
                _count(info.get("max_total_num_tokens")),
                _sglang_lossy(info),
            )
        case _:
            context = next((_count(row.get("max_model_len")) for row in models), None)
            return ServerFacts(models=names, context=context)


async def read_metrics(endpoint: Endpoint) -> str | None:
    """The server's metrics page; None where it has none."""
    url = endpoint.arm.metrics_url or f"{server_root(endpoint.arm.base_url)}/metrics"
    return await endpoint.get_text(url)


async def _vllm(endpoint: Endpoint, names: tuple[str, ...], row: Mapping[str, JsonValue]) -> ServerFacts:
    root, metrics = server_root(endpoint.arm.base_url), await read_metrics(endpoint)
    # Only a server in development mode has this page.
    info = read_object(await endpoint.get_text(f"{root}/server_info?config_format=json"))
    return ServerFacts(
        ServerKind.VLLM,
        _string(read_object(await endpoint.get_text(f"{root}/version")).get("version")),
        names,
        _count(row.get("max_model_len")),
        _vllm_speculating(metrics),
        None if metrics is None else read_kv_tokens(metrics),
        _vllm_lossy(info),
    )


async def _llama_cpp(endpoint: Endpoint, root: str, names: tuple[str, ...]) -> ServerFacts:
    props = read_object(await endpoint.get_text(f"{root}/props"))
    settings = props.get("default_generation_settings")
    context = _count(settings.get("n_ctx")) if isinstance(settings, Mapping) else None
    return ServerFacts(
        ServerKind.LLAMA_CPP,
        _string(props.get("build_info")),
        names,
        context,
        _slots_speculating(await endpoint.get_text(f"{root}/slots")),
    )


def _slots_speculating(text: str | None) -> Speculating:
    slots = read_json(text)
    flags = (
        [slot.get("speculative") for slot in slots if isinstance(slot, Mapping)]
        if isinstance(slots, list)
        else []
    )
    if not flags or not all(isinstance(flag, bool) for flag in flags):
        return Speculating.UNKNOWN
    return Speculating.ON if any(flags) else Speculating.OFF


def _vllm_speculating(metrics: str | None) -> Speculating:
    # Another page under that address (a proxy's, an error) proves nothing: vLLM's own lines must be there.
    if metrics is None or "vllm:" not in metrics:
        return Speculating.UNKNOWN
    return Speculating.ON if "vllm:spec_decode_num_draft_tokens_total" in metrics else Speculating.OFF


def _sglang_speculating(info: Mapping[str, JsonValue]) -> Speculating:
    if "speculative_algorithm" not in info:
        return Speculating.UNKNOWN
    return Speculating.ON if info["speculative_algorithm"] else Speculating.OFF


def _sglang_lossy(info: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Acceptance below certainty: by default both thresholds are 1.0 and nothing is lost."""
    names = ("speculative_accept_threshold_single", "speculative_accept_threshold_acc")
    return tuple(
        f"{name} {value:g}"
        for name in names
        if isinstance(value := info.get(name), int | float) and not isinstance(value, bool) and value < 1
    )


def _vllm_lossy(info: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """A way of accepting drafts that is not the strict one."""
    config = info.get("vllm_config")
    speculative = config.get("speculative_config") if isinstance(config, Mapping) else None
    method = speculative.get("rejection_sample_method") if isinstance(speculative, Mapping) else None
    # "standard" was "strict" once; whatever else there will be has to be looked at.
    return () if method in (None, "strict", "standard") else (f"rejection_sample_method {method}",)


def _string(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
