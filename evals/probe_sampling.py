"""Sampling parameters: applied, ignored or refused, by what they do to the text and never by a status code.

Two answers are the measure: the greedy one, and a hot one (temperature 2) of a fixed seed. What cuts all
tokens but the best (`top_k` 1, a tiny `top_p`, `min_p` 1) must turn hot into greedy; a penalty must turn
greedy into something else; a stop string must end greedy where it occurs.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .attempt import EndpointError
from .check import Check, Verdict, failed
from .probe_client import COPY, STORY, ProbeClient, text_of
from .response import Completion, TokenLogprob

HOT = 2.0
REPEATS = 3
_ALTERNATIVES = 5
# What leaves one token to choose from, whatever the temperature.
ONLY_BEST: tuple[tuple[str, float], ...] = (("top_k", 1), ("top_p", 0.0001), ("min_p", 1.0))
PENALTIES = (("presence_penalty", 2.0), ("frequency_penalty", 2.0), ("repetition_penalty", 2.0))
# llama.cpp's own name of what vLLM and SGLang call repetition_penalty.
_OTHER_NAME = {"repetition_penalty": "repeat_penalty"}
_STOP_WORD = re.compile(r"\S{3,}")


@dataclass(frozen=True, slots=True)
class Measure:
    """What the effects are measured by: one question, answered plainly.

    `is_repeatable` is whether the greedy answer came out the same every time. `hot` is None where no hot
    answer came; `logprobs` are of the greedy answer.
    """

    greedy: str
    is_repeatable: bool
    hot: str | None = None
    logprobs: tuple[TokenLogprob, ...] = ()
    token_ids: tuple[int, ...] = ()


async def check_greedy(client: ProbeClient) -> tuple[Measure | EndpointError, Check]:
    """Ask the same at temperature 0 three times; an error is the first one's: nothing can be asked at all."""
    name = "temperature 0"
    answers = [await client.ask() for _ in range(REPEATS)]
    first = answers[0]
    if isinstance(first, EndpointError):
        return first, failed(name, first)
    texts = [text_of(answer) for answer in answers if isinstance(answer, Completion)]
    measure = Measure(texts[0], len(set(texts)) == 1, token_ids=first.token_ids or ())
    if len(texts) < REPEATS:
        return measure, Check(name, Verdict.UNKNOWN, "not every one of the identical requests was answered")
    if not texts[0]:
        return measure, Check(name, Verdict.WRONG, "the answers hold no text")
    if measure.is_repeatable:
        return measure, Check(name, Verdict.OK, f"the same answer to {REPEATS} identical requests")
    detail = f"{len(set(texts))} different answers to {REPEATS} identical requests"
    return measure, Check(name, Verdict.WRONG, detail)


async def check_logprobs(client: ProbeClient) -> tuple[tuple[TokenLogprob, ...], Check]:
    """Ask for log probabilities of prose and of a copy; those of the prose are returned for later."""
    name = "logprobs"
    found: list[tuple[TokenLogprob, ...]] = []
    for text in (STORY, COPY):
        answer = await client.ask(text, fields={"logprobs": True, "top_logprobs": _ALTERNATIVES})
        if isinstance(answer, EndpointError):
            return (), failed(name, answer)
        found.append(answer.logprobs or ())
    prose, every = found[0], [one for tokens in found for one in tokens]
    if not every:
        return (), Check(name, Verdict.IGNORED, "absent")
    # A certain token has 0.0 too, but then with its alternatives far below.
    empty = [one for one in every if one.logprob == 0.0 and not one.alternatives]
    if all(one.logprob == 0.0 for one in every):
        return (), Check(name, Verdict.WRONG, "0.0 for every token: the server computes none")
    if empty:
        return (), Check(
            name, Verdict.WRONG, "0.0 and no alternatives for some tokens: those that came out of a draft"
        )
    return prose, Check(name, Verdict.OK, "present, for drafted tokens too")


async def check_seed(client: ProbeClient, greedy: str) -> tuple[str | None, tuple[Check, ...]]:
    """Ask hot with one seed twice and with another once; return the hot text as well."""
    answers = [await client.ask(fields={"temperature": HOT, "seed": seed}) for seed in (1, 1, 2)]
    if (error := _first_error(answers)) is not None:
        return None, (failed("temperature", error), failed("seed", error))
    one, again, other = (text_of(answer) for answer in answers if isinstance(answer, Completion))
    if one == again == other == greedy:
        unknown = Check("seed", Verdict.UNKNOWN, "temperature is ignored, so no seed can show")
        return one, (Check("temperature", Verdict.IGNORED, "the greedy answer at temperature 2"), unknown)
    temperature = Check("temperature", Verdict.APPLIED, "another answer at temperature 2")
    if one != again:
        detail = "the same seed gives other text at temperature 2"
        return one, (temperature, Check("seed", Verdict.IGNORED, detail))
    if one == other:
        detail = "another seed gives the same text at temperature 2"
        return one, (temperature, Check("seed", Verdict.IGNORED, detail))
    return one, (temperature, Check("seed", Verdict.APPLIED, "same seed, same text; other seed, other text"))


async def check_only_best(client: ProbeClient, measure: Measure, name: str, value: float) -> Check:
    """Leave only the best token at temperature 2: that must be the greedy answer."""
    if measure.hot is None or measure.hot == measure.greedy:
        return Check(name, Verdict.UNKNOWN, "temperature has no effect, so neither has this")
    answer = await client.ask(fields={"temperature": HOT, name: value})
    if isinstance(answer, EndpointError):
        return failed(name, answer)
    text = text_of(answer)
    setting = f"{name} {value:g} at temperature 2"
    if text == measure.greedy:
        return Check(name, Verdict.APPLIED, f"{setting} is the greedy answer")
    if _is_near(text, measure.greedy):
        return Check(name, Verdict.APPLIED, f"{setting} is the greedy answer, up to a near-tie")
    if text == measure.hot or measure.is_repeatable:
        return Check(name, Verdict.IGNORED, f"{setting} is not the greedy answer")
    return Check(name, Verdict.UNKNOWN, _NOT_REPEATABLE)


_NOT_REPEATABLE = "the server does not repeat itself at temperature 0, so a change shows nothing"


def _is_near(text: str, greedy: str) -> bool:
    """Whether two answers share their first half: hot ones part at once."""
    half = greedy[: len(greedy) // 2 + 1]
    return text.startswith(half)


async def check_penalty(client: ProbeClient, measure: Measure, name: str, value: float) -> Check:
    """Ask greedily with a strong penalty: text that repeats a token must change."""
    answer = await client.ask(fields={name: value})
    if isinstance(answer, EndpointError):
        return failed(name, answer)
    if not measure.is_repeatable:
        return Check(name, Verdict.UNKNOWN, _NOT_REPEATABLE)
    if text_of(answer) != measure.greedy:
        return Check(name, Verdict.APPLIED, f"{name} {value:g} changes the greedy answer")
    if name in _OTHER_NAME:
        return await _check_other_name(client, measure, name, value)
    if must_change(measure.logprobs, name, value):
        return Check(name, Verdict.IGNORED, f"{name} {value:g} changes nothing, and by the logprobs it must")
    return Check(name, Verdict.UNKNOWN, f"{name} {value:g} changes nothing, and perhaps it need not here")


async def _check_other_name(client: ProbeClient, measure: Measure, name: str, value: float) -> Check:
    other = _OTHER_NAME[name]
    answer = await client.ask(fields={other: value})
    is_applied = isinstance(answer, Completion) and text_of(answer) != measure.greedy
    known = f"this server calls it {other}" if is_applied else f"nor does {other}"
    return Check(name, Verdict.IGNORED, f"{name} {value:g} changes nothing; {known}")


def must_change(logprobs: Sequence[TokenLogprob], name: str, value: float) -> bool:
    """Whether a penalty, taken off the log probabilities as OpenAI defines it, turns some choice around.

    Differences of log probabilities are differences of logits, so the definition can be applied to them.
    """
    seen: Counter[str] = Counter()

    def penalised(token: str, logprob: float) -> float:
        times = seen[token]
        return logprob - value * (times if name == "frequency_penalty" else min(times, 1))

    for one in logprobs:
        others = [penalised(*other) for other in one.alternatives if other[0] != one.token]
        if others and max(others) > penalised(one.token, one.logprob):
            return True
        seen[one.token] += 1
    return False


async def check_stop(client: ProbeClient, measure: Measure) -> Check:
    """Name a word of the greedy answer as a stop string: the answer must end there."""
    name = "stop"
    words = list(_STOP_WORD.finditer(measure.greedy))
    # Later than the first token, and before the cap could be the reason.
    inside = [word for word in words[:-1] if word.start() >= len(measure.greedy) // 3]
    if not inside:
        return Check(name, Verdict.UNKNOWN, "the greedy answer has no word to stop at")
    word = inside[0].group()
    answer = await client.ask(fields={"stop": [word]})
    if isinstance(answer, EndpointError):
        return failed(name, answer)
    due = measure.greedy[: measure.greedy.index(word)]
    text = text_of(answer)
    match text:
        case _ if text.rstrip() == due.rstrip():
            return _stopped(answer)
        case _ if text.rstrip() == due + word:
            return Check(name, Verdict.APPLIED, "ends the answer, which keeps the stop string")
        case _ if text == measure.greedy:
            return Check(name, Verdict.IGNORED, "the answer runs on past the stop string")
        case _ if text.startswith(due + word):
            return Check(name, Verdict.WRONG, "text follows the stop string")
        case _:
            return Check(name, Verdict.UNKNOWN, "the answer went another way before the stop string")


def _stopped(answer: Completion) -> Check:
    if answer.finish_reason == "stop":
        return Check("stop", Verdict.APPLIED, "ends the answer, with finish_reason 'stop'")
    detail = f"ends the answer, and finish_reason says {answer.finish_reason!r}"
    return Check("stop", Verdict.WRONG, detail)


def _first_error(answers: Sequence[Completion | EndpointError]) -> EndpointError | None:
    return next((answer for answer in answers if isinstance(answer, EndpointError)), None)
