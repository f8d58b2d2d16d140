"""A probe: what one endpoint is, and what it does with caps, streams, sampling parameters and tools.

About thirty short requests, one after another; what shows only in effects is judged by effects. Engines have
died of a single field, so a probe is for servers that may be started again.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn
from urllib.parse import urlsplit

from pydantic import ValidationError

from ...errors import UserError, first_error
from ..arm import Arm
from ..plan import RunSection
from ..servers.counters import read_counters
from ..servers.endpoint import Endpoint
from ..servers.facts import read_facts, read_metrics
from ..servers.server import RenderedPrompt, ServerFacts, Speculating
from .check import Check, Failure, Verdict
from .configuration import read_configuration
from .probe_bias import NAME as BIAS
from .probe_bias import check_bias
from .probe_client import Fields, ProbeClient
from .probe_ending import check_caps, check_streaming
from .probe_sampling import (
    HOT,
    ONLY_BEST,
    PENALTIES,
    PENALTY,
    Measure,
    check_greedy,
    check_logprobs,
    check_only_best,
    check_penalty,
    check_seed,
    check_stop,
)
from .probe_tools import check_tools

REQUEST_SECONDS = 120.0
NAMES = ("A", "B")


@dataclass(frozen=True, slots=True)
class Probe:
    """What one endpoint showed.

    `configuration` are its own settings as it tells them; `prompt` is of one request with tools.
    """

    url: str
    model: str
    facts: ServerFacts
    checks: tuple[Check, ...]
    configuration: dict[str, str]
    prompt: RenderedPrompt | None
    requests: int


def probe_all(
    urls: Sequence[str], *, model: str | None, api_key_env: str | None, tell: Callable[[str], None]
) -> tuple[Probe, ...]:
    """Probe endpoints side by side; they are called A, B and so on in messages.

    Raises:
        UserError: As `probe_url`, for the first that fails.
    """

    async def probe_each() -> list[Probe]:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(probe_url(url, name=name, model=model, api_key_env=api_key_env, tell=tell))
                for name, url in zip(NAMES, urls, strict=False)
            ]
        return [task.result() for task in tasks]

    try:
        return tuple(asyncio.run(probe_each()))
    except* UserError as group:
        raise first_error(group) from None


async def probe_url(
    url: str, *, name: str, model: str | None, api_key_env: str | None, tell: Callable[[str], None]
) -> Probe:
    """Probe the endpoint at a base URL.

    Args:
        url: Its OpenAI interface, ending in `/v1` on most servers.
        name: What to call it in messages.
        model: Which model to ask; None for the only one that is listed.
        api_key_env: The variable that holds the key.
        tell: Told what is going on.

    Raises:
        UserError: A bad URL, no or several models to choose from, or (exit code 4) nobody who answers.
    """
    endpoint = Endpoint(_arm(url, name, model, api_key_env), _settings())
    try:
        facts = await read_facts(endpoint)
        endpoint.kind = facts.kind
        client = ProbeClient(endpoint, model or _only_model(facts, url))
        tell(f"{name}: probing {client.model} at {url}; about 30 short requests")
        return await _probe(client, facts)
    finally:
        await endpoint.close()


async def _probe(client: ProbeClient, facts: ServerFacts) -> Probe:
    endpoint = client.endpoint
    before = await read_metrics(endpoint)
    measure, greedy = await check_greedy(client)
    if isinstance(measure, Failure):
        _refuse_silent(client, measure)
    checks = [greedy, _answer_check(measure), *await check_caps(client)]
    checks.append(await check_streaming(client, measure.greedy if measure.is_repeatable else None))
    checks += await _sampling(client, measure)
    prompt, tools = await check_tools(client)
    checks += tools
    metrics = await read_metrics(endpoint)
    drafted = _drafted(client, before, metrics)
    return Probe(
        url=endpoint.arm.base_url,
        model=client.model,
        facts=facts,
        checks=(*_told(client.model, facts), _speculation(facts, drafted), *checks),
        configuration=await read_configuration(endpoint, metrics),
        prompt=prompt,
        requests=client.requests,
    )


async def _sampling(client: ProbeClient, measure: Measure) -> list[Check]:
    """Every sampling parameter, whole; then those that were taken once more, all in one stream."""
    logprobs, shown = await check_logprobs(client)
    measure, heat = await check_seed(client, replace(measure, logprobs=logprobs))
    checks = [*heat]
    checks += [await check_only_best(client, measure, name) for name in ONLY_BEST]
    checks += [await check_penalty(client, measure, name) for name in PENALTIES]
    checks.append(await check_stop(client, measure))
    token_id, bias = await check_bias(client, measure)
    checks += [bias, shown]
    fields: dict[str, Fields] = {
        **ONLY_BEST,
        **{name: {name: PENALTY} for name in PENALTIES},
        "stop": {"stop": ["\n\n\n\n"]},
        "logprobs": {"logprobs": True},
        **({} if token_id is None else {BIAS: {BIAS: {str(token_id): 1}}}),
    }
    return await _refused_in_streams(client, checks, fields)


async def _refused_in_streams(
    client: ProbeClient, checks: list[Check], fields: dict[str, Fields]
) -> list[Check]:
    """Mark what is refused in a stream only: as an error event in a stream that began with HTTP 200.

    All taken parameters go into one stream; each is asked alone only where that one fails.
    """
    taken = {one.name: fields[one.name] for one in checks if one.name in fields and _is_taken(one)}
    together = {key: value for one in taken.values() for key, value in one.items()}
    answer = await client.ask(budget=2, stream=True, fields={"temperature": HOT, **together})
    if not isinstance(answer, Failure) or client.is_gone:
        return checks
    refusals: dict[str, Failure] = {}
    for name, own in taken.items():
        alone = await client.ask(budget=2, stream=True, fields={"temperature": HOT, **own})
        if isinstance(alone, Failure) and alone.verdict is not Verdict.UNKNOWN:
            refusals[name] = alone
    return [_in_stream(one, refusals[one.name]) if one.name in refusals else one for one in checks]


def _is_taken(check: Check) -> bool:
    return check.verdict in (Verdict.OK, Verdict.APPLIED, Verdict.IGNORED)


def _in_stream(check: Check, failure: Failure) -> Check:
    return Check(check.name, failure.verdict, f"only in a stream: {failure.words}")


def _told(model: str, facts: ServerFacts) -> tuple[Check, ...]:
    """What the server says of itself."""
    lossy = "none shown" if not facts.lossy else ", ".join(facts.lossy)
    version = f" {facts.version}" if facts.version else ""
    return (
        Check("server", Verdict.OK if version else Verdict.UNKNOWN, f"{facts.kind.value}{version}"),
        _model_check(model, facts),
        _count_check("context", facts.context),
        _count_check("KV cache", facts.kv_tokens),
        Check("lossy settings", Verdict.WRONG if facts.lossy else Verdict.OK, lossy),
    )


def _answer_check(measure: Measure) -> Check:
    """The greedy answer itself, so that two servers compare."""
    digest = hashlib.sha256(measure.greedy.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    start = " ".join(measure.greedy[:40].split())
    return Check("greedy answer", Verdict.OK, f'"{start}…" #{digest}')


def _model_check(model: str, facts: ServerFacts) -> Check:
    if not facts.models:
        return Check("model", Verdict.UNKNOWN, f"{model} (the server lists none)")
    if model not in facts.models:
        return Check("model", Verdict.WRONG, f"{model} (not in the server's list)")
    return Check("model", Verdict.OK, model)


def _count_check(name: str, tokens: int | None) -> Check:
    if tokens is None:
        return Check(name, Verdict.UNKNOWN, "the server does not tell")
    return Check(name, Verdict.OK, f"{tokens} tokens")


def _speculation(facts: ServerFacts, drafted: int | None) -> Check:
    """Drafted tokens prove it; without any the server's own word stands."""
    name = "speculating"
    if drafted:
        lies = facts.speculating is Speculating.OFF
        word = "on: the answers were drafted" + (", though its pages say off" if lies else "")
        return Check(name, Verdict.WRONG if lies else Verdict.OK, word)
    match facts.speculating:
        case Speculating.ON:
            none = "drafted nothing here" if drafted == 0 else "drafts are not counted"
            return Check(name, Verdict.OK, f"on, by the server's pages; {none}")
        case Speculating.OFF:
            return Check(name, Verdict.OK, "off")
        case Speculating.UNKNOWN:
            return Check(name, Verdict.UNKNOWN, "the server does not show it, and no answer tells of drafts")


def _drafted(client: ProbeClient, before: str | None, after: str | None) -> int | None:
    """Draft tokens of this probe: by the answers, else by the server's counters."""
    if client.drafted:
        return client.drafted
    counts = [
        None if page is None else read_counters(page).draft_tokens
        for page in (before, after)
    ]  # fmt: skip
    return None if counts[0] is None or counts[1] is None else counts[1] - counts[0]


def _refuse_silent(client: ProbeClient, failure: Failure) -> NoReturn:
    raise UserError(
        f"{client.endpoint.arm.base_url}: {client.model} does not answer: {failure.words}",
        tip="is this the model's name there, and does the URL end where /chat/completions begins?",
        exit_code=4,
    )


def _only_model(facts: ServerFacts, url: str) -> str:
    match facts.models:
        case (model,):
            return model
        case ():
            tip = "does the URL end in /v1? a server without a list needs --model"
            raise UserError(f"{url}: lists no models; expected --model", tip=tip)
        case _:
            raise UserError(
                f"{url}: lists several models; expected --model, one of {', '.join(facts.models)}"
            )


def _arm(url: str, name: str, model: str | None, api_key_env: str | None) -> Arm:
    try:
        return Arm(name=name, base_url=url, model=model or "the only one", api_key_env=api_key_env)
    except ValidationError as error:
        message = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        shown = url if urlsplit(url).username is None else "the URL"
        raise UserError(f"{shown}: {message}") from None


def _settings() -> RunSection:
    return RunSection(tasks=("probe",), timeout=REQUEST_SECONDS, retries=0)
