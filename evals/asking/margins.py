"""The baseline's margin at the token where a candidate left it, asked of the baseline's server.

Only of the baseline: a speculating server's log-probabilities are no evidence (llama.cpp reports 0.0 for
every drafted token). Both texts are cut into tokens, and one token is asked for after what they share:

    vLLM       POST /tokenize {"prompt", "add_special_tokens": false};
               POST /v1/completions {"prompt": [ids], "max_tokens": 1, "logprobs": N,
               "return_tokens_as_token_ids": true} → choices[0].logprobs.top_logprobs[0]
    llama.cpp  POST /tokenize {"content", "add_special", "parse_special"};
               POST /completion {"prompt": [ids], "n_predict": 1, "n_probs": N}
               → completion_probabilities[0].top_logprobs
"""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from ..judging.parting import Parting
from ..runs.divergence import Divergence, DivergenceLabel, label_of
from ..servers.endpoint import Endpoint
from ..servers.page import Page, read_object
from ..servers.patience import SendError
from ..servers.raw_prompt import read_rendered, render_page
from ..servers.response import BadResponseError
from ..servers.server import ServerKind

LISTED_TOKENS = 20


class _UnknownError(Exception):
    """The server did not give what a margin is made of."""


async def measure_margin(endpoint: Endpoint, parting: Parting) -> Divergence:
    """Ask the baseline's server how clear its choice was; whatever goes wrong is a label `unknown`."""
    try:
        return await _measure(endpoint, parting)
    except (_UnknownError, SendError, BadResponseError) as error:
        return _unknown(parting, str(error)[:200])


async def _measure(endpoint: Endpoint, parting: Parting) -> Divergence:
    if endpoint.kind not in (ServerKind.VLLM, ServerKind.LLAMA_CPP):
        return _unknown(parting, "the baseline's server gives no margins")
    prompt = parting.request.get("prompt")
    if prompt is None:
        page = render_page(endpoint.kind, parting.request, endpoint.arm.name)
        prompt = read_rendered(await endpoint.post_page(page))
    left = await _tokens(endpoint, prompt, parting.baseline_text)
    right = await _tokens(endpoint, prompt, parting.candidate_text)
    place = next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
    if place is None:
        return _unknown(parting, "one answer is the beginning of the other")
    likeliest = await _likeliest(endpoint, left[:place])
    own, other = likeliest.get(left[place]), likeliest.get(right[place])
    if own is None or not any(likeliest.values()):
        return _unknown(parting, "the baseline's own token is not among the likeliest here")
    is_lower_bound = other is None
    margin = round(own - (min(likeliest.values()) if other is None else other), 4)
    return Divergence(
        parting.id,
        parting.candidate,
        parting.budget,
        label_of(margin, is_lower_bound=is_lower_bound),
        margin,
        is_lower_bound,
        # Counted in the answer: the two begin to differ after the prompt.
        place - len(await _tokens(endpoint, prompt, "")),
    )


def _unknown(parting: Parting, reason: str) -> Divergence:
    return Divergence(parting.id, parting.candidate, parting.budget, DivergenceLabel.UNKNOWN, reason=reason)


async def _tokens(endpoint: Endpoint, prompt: JsonValue, text: str) -> list[int]:
    """The tokens of a prompt and an answer after it."""
    if endpoint.kind is ServerKind.LLAMA_CPP:
        body: dict[str, JsonValue] = {
            "content": f"{prompt}{text}",
            "add_special": True,
            "parse_special": True,
        }
        return _ids(await endpoint.post_page(Page("/tokenize", body)))
    before = [one for one in prompt if isinstance(one, int)] if isinstance(prompt, list) else []
    if not text:
        return before
    body = {"model": endpoint.arm.model, "prompt": text, "add_special_tokens": False}
    return before + _ids(await endpoint.post_page(Page("/tokenize", body)))


def _ids(text: str) -> list[int]:
    tokens = read_object(text).get("tokens")
    ids = [one for one in tokens if isinstance(one, int)] if isinstance(tokens, list) else []
    if not ids or not isinstance(tokens, list) or len(ids) != len(tokens):
        raise _UnknownError("the server gave no tokens")
    return ids


async def _likeliest(endpoint: Endpoint, before: Sequence[int]) -> Mapping[int, float]:
    """Log-probabilities of the likeliest next tokens, by token id."""
    if endpoint.kind is ServerKind.LLAMA_CPP:
        body: dict[str, JsonValue] = {
            "prompt": list(before),
            "n_predict": 1,
            "n_probs": LISTED_TOKENS,
            "temperature": 0,
        }
        probabilities = read_object(await endpoint.post_page(Page("/completion", body))).get(
            "completion_probabilities"
        )
        first = probabilities[0] if isinstance(probabilities, list) and probabilities else None
        listed = first.get("top_logprobs") if isinstance(first, Mapping) else None
        rows = listed if isinstance(listed, list) else []
        return {
            token: float(value)
            for row in rows
            if isinstance(row, Mapping)
            and isinstance(token := row.get("id"), int)
            and isinstance(value := row.get("logprob"), int | float)
        }
    body = {
        "model": endpoint.arm.model,
        "prompt": list(before),
        "max_tokens": 1,
        "temperature": 0,
        "logprobs": LISTED_TOKENS,
        "return_tokens_as_token_ids": True,
    }
    choices = read_object(await endpoint.post_page(Page("/v1/completions", body))).get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    logprobs = choice.get("logprobs") if isinstance(choice, Mapping) else None
    top = logprobs.get("top_logprobs") if isinstance(logprobs, Mapping) else None
    first = top[0] if isinstance(top, list) and top else None
    return {
        int(number): float(value)
        for name, value in (first.items() if isinstance(first, Mapping) else ())
        if (number := name.removeprefix("token_id:")).isdecimal() and isinstance(value, int | float)
    }
