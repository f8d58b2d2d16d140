"""`logit_bias`: a token that is forced must be all there is, a token that is forbidden must be gone."""

import json
from typing import TYPE_CHECKING

from ..servers.page import Page
from ..servers.response import Completion
from ..servers.server import ServerKind
from .check import Check, Failure, Verdict
from .probe_client import ProbeClient, text_of
from .probe_sampling import Measure

if TYPE_CHECKING:
    from pydantic import JsonValue

NAME = "logit_bias"
_BIAS = 100
_BUDGET = 8


async def check_bias(client: ProbeClient, measure: Measure) -> tuple[int | None, Check]:
    """Force one token of the greedy answer, then forbid its first; return the forced token's id as well.

    Several tokens are asked for, since a server may apply the bias to what it samples and not to what it
    takes out of a draft.
    """
    ids = await _token_ids(client, measure)
    if len(ids) < 2:
        return None, Check(NAME, Verdict.UNKNOWN, "the server tells no token ids, so no bias can be set")
    first, other = ids[0], ids[1]
    forced = await client.ask(budget=_BUDGET, fields={NAME: {str(other): _BIAS}})
    if isinstance(forced, Failure):
        return other, forced.check(NAME)
    forbidden = await client.ask(budget=_BUDGET, fields={NAME: {str(first): -_BIAS}})
    if isinstance(forbidden, Failure):
        return other, forbidden.check(NAME)
    return other, _judge(measure, forced, forbidden, first, other)


def _judge(measure: Measure, forced: Completion, forbidden: Completion, first: int, other: int) -> Check:
    is_plain = [measure.greedy.startswith(text_of(answer).rstrip()) for answer in (forced, forbidden)]
    if all(is_plain):
        return Check(NAME, Verdict.IGNORED, "neither a forced nor a forbidden token changes the answer")
    if any(is_plain):
        which = "forced" if is_plain[0] else "forbidden"
        return Check(NAME, Verdict.WRONG, f"a {which} token changes nothing, the opposite does")
    if forced.token_ids is not None and set(forced.token_ids) != {other}:
        return Check(NAME, Verdict.WRONG, "a forced token is not the only one: some places have no bias")
    if forbidden.token_ids is not None and first in forbidden.token_ids:
        return Check(NAME, Verdict.WRONG, "a forbidden token comes all the same: some places have no bias")
    if not measure.is_repeatable and forced.token_ids is None:
        return Check(NAME, Verdict.UNKNOWN, "the answers change, but the server does not repeat itself")
    return Check(NAME, Verdict.APPLIED, "a forced token fills the answer, a forbidden one is gone")


async def _token_ids(client: ProbeClient, measure: Measure) -> list[int]:
    """Two tokens of the greedy answer that differ: its first, and the first other one."""
    ids = list(measure.token_ids) or [one.id for one in measure.logprobs if one.id is not None]
    if not ids:
        ids = await _tokenized(client, measure.greedy)
    return list(dict.fromkeys(ids))[:2]


async def _tokenized(client: ProbeClient, text: str) -> list[int]:
    """Ask the server's /tokenize, in the spelling of its kind."""
    if client.endpoint.kind is ServerKind.LLAMA_CPP:
        page = Page("/tokenize", {"content": text})
    else:
        page = Page("/tokenize", {"model": client.model, "prompt": text, "add_special_tokens": False})
    answer = await client.endpoint.post_text(page)
    try:
        raw: JsonValue = json.loads(answer or "")
    except (ValueError, RecursionError):
        return []
    tokens = raw.get("tokens") if isinstance(raw, dict) else None
    return [one for one in tokens if isinstance(one, int)] if isinstance(tokens, list) else []
