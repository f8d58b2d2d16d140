"""What a server says of itself before a run: its kind, its context, and whether it speculates.

The pages and their traps differ by server: llama.cpp's /props says "none" even when speculation is on, so
/slots decides there; vLLM shows `vllm:spec_decode_*` on /metrics only where speculation is configured; no
metrics page says nothing at all.
"""

import json
from collections.abc import Mapping

from pydantic import JsonValue

from .endpoint import Endpoint, server_root
from .server import ServerFacts, ServerKind, Speculating


async def read_facts(endpoint: Endpoint) -> ServerFacts:
    """Ask the server's own pages.

    Raises:
        UserError: Nobody answers, or the key is refused.
    """
    base = endpoint.arm.base_url
    root = server_root(base)
    listing = _object(await endpoint.get_text("/models"))
    rows = listing.get("data")
    models = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    names = tuple(name for row in models if isinstance(name := row.get("id"), str))
    owner = next((row.get("owned_by") for row in models), None)
    match owner:
        case "llamacpp":
            return await _llama_cpp(endpoint, root, names)
        case "vllm":
            row = next((row for row in models if row.get("id") == endpoint.arm.model), models[0])
            metrics = await endpoint.get_text(f"{root}/metrics")
            return ServerFacts(
                ServerKind.VLLM,
                _string(_object(await endpoint.get_text(f"{root}/version")).get("version")),
                names,
                _count(row.get("max_model_len")),
                _vllm_speculating(metrics),
            )
        case "sglang":
            info = _object(await endpoint.get_text(f"{root}/server_info"))
            return ServerFacts(
                ServerKind.SGLANG,
                _string(info.get("version")),
                names,
                _count(info.get("context_length")) or _count(models[0].get("max_model_len")),
                _sglang_speculating(info),
            )
        case _:
            context = next((_count(row.get("max_model_len")) for row in models), None)
            return ServerFacts(models=names, context=context)


async def _llama_cpp(endpoint: Endpoint, root: str, names: tuple[str, ...]) -> ServerFacts:
    props = _object(await endpoint.get_text(f"{root}/props"))
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
    slots = _json(text)
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


def _json(text: str | None) -> JsonValue:
    try:
        return json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None


def _object(text: str | None) -> Mapping[str, JsonValue]:
    value = _json(text)
    return value if isinstance(value, dict) else {}


def _string(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
