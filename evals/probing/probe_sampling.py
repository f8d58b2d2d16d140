"""Sampling parameters: applied, ignored or refused, by what they do to the text and never by a status code.

Two answers are the measure: the greedy one, and a hot one (temperature 2) of a fixed seed. What cuts all
tokens but the best (`top_k` 1, a tiny `top_p`, `min_p` 1) must turn hot into greedy; a penalty must turn
greedy into something else; a stop string must end greedy where it occurs.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..servers.response import Completion, TokenLogprob
from .check import Check, Failure, Verdict
from .probe_client import COPY, STORY, Fields, ProbeClient, text_of

HOT = 2.0
REPEATS = 3
_ALTERNATIVES = 5
# What leaves one token to choose from, whatever the temperature; by the parameter that does it. A top_k
# without any top_p has killed a vLLM 0.32 on a CPU under n-gram speculation: the harmless form is sent.
ONLY_BEST: dict[str, Fields] = {
    "top_k": {"top_k": 1, "top_p": 0.9999},
    "top_p": {"top_p": 0.0001},
    "min_p": {"min_p": 1.0},
}
PENALTY = 2.0
PENALTIES = ("presence_penalty", "frequency_penalty", "repetition_penalty")
NEAR_TIE = 0.25  # in log probability: 16-bit arithmetic can turn such a choice around
# llama.cpp's own name of what vLLM and SGLang call repetition_penalty.
_OTHER_NAME = {"repetition_penalty": "repeat_penalty"}
_STOP_WORD = re.compile(r"\S{3,}")


@dataclass(frozen=True, slots=True)
class Measure:
    """What the effects are measured by: one question, answered plainly.

    `is_repeatable` is whether the greedy answer came out the same every time, `is_hot_repeatable` the same of
    the hot one (of one seed). `hot` is None where none came; `logprobs` are of the greedy answer.
    """

    greedy: str
    is_repeatable: bool
    hot: str | None = None
    is_hot_repeatable: bool = False
    logprobs: tuple[TokenLogprob, ...] = ()
    token_ids: tuple[int, ...] = ()


async def check_greedy(client: ProbeClient) -> tuple[Measure | Failure, Check]:
    """Ask the same at temperature 0 three times; an error is the first one's: nothing can be asked at all."""
    name = "temperature 0"
    answers = [await client.ask() for _ in range(REPEATS)]
    first = answers[0]
    if isinstance(first, Failure):
        return first, first.check(name)
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
        if isinstance(answer, Failure):
            return (), answer.check(name)
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
    return prose, Check(name, Verdict.OK, "present, with alternatives")


async def check_seed(client: ProbeClient, measure: Measure) -> tuple[Measure, tuple[Check, ...]]:
    """Ask hot with one seed twice and with another once; return the measure with the hot answer as well."""
    answers = [await client.ask(fields={"temperature": HOT, "seed": seed}) for seed in (1, 1, 2)]
    if (error := _first_error(answers)) is not None:
        return measure, (error.check("temperature"), error.check("seed"))
    one, again, other = (text_of(answer) for answer in answers if isinstance(answer, Completion))
    measure = replace(measure, hot=one, is_hot_repeatable=one == again)
    if one == again == other == measure.greedy:
        unknown = Check("seed", Verdict.UNKNOWN, "temperature is ignored, so no seed can show")
        return measure, (Check("temperature", Verdict.IGNORED, "the greedy answer at temperature 2"), unknown)
    temperature = Check("temperature", Verdict.APPLIED, "another answer at temperature 2")
    if one != again:
        detail = "the same seed gives other text at temperature 2"
        return measure, (temperature, Check("seed", Verdict.IGNORED, detail))
    if one == other:
        detail = "another seed gives the same text at temperature 2"
        return measure, (temperature, Check("seed", Verdict.IGNORED, detail))
    return measure, (
        temperature,
        Check("seed", Verdict.APPLIED, "same seed, same text; other seed, other text"),
    )


async def check_only_best(client: ProbeClient, measure: Measure, name: str) -> Check:
    """Leave only the best token at temperature 2: that must be the greedy answer."""
    if measure.hot is None or measure.hot == measure.greedy:
        return Check(name, Verdict.UNKNOWN, "temperature has no effect, so neither has this")
    answer = await client.ask(fields={"temperature": HOT, **ONLY_BEST[name]})
    if isinstance(answer, Failure):
        return answer.check(name)
    text = text_of(answer)
    setting = f"{name} {ONLY_BEST[name][name]} at temperature 2"
    if text == measure.greedy or parts_at_near_tie(measure.logprobs, text):
        return Check(name, Verdict.APPLIED, f"{setting} gives the greedy answer, up to near-ties")
    if text == measure.hot:
        return Check(name, Verdict.IGNORED, f"{setting} gives the answer without it")
    if measure.is_hot_repeatable:
        return Check(name, Verdict.UNKNOWN, f"{setting} changes the answer, but not into the greedy one")
    if measure.is_repeatable:
        return Check(name, Verdict.IGNORED, f"{setting} does not give the greedy answer")
    return Check(name, Verdict.UNKNOWN, _NOT_REPEATABLE)


_NOT_REPEATABLE = "the server does not repeat itself at temperature 0, so a change shows nothing"


def parts_at_near_tie(logprobs: Sequence[TokenLogprob], text: str) -> bool:
    """Whether a text leaves the greedy answer where another token was as good, and takes that one."""
    shared = ""
    for one in logprobs:
        if text.startswith(shared + one.token):
            shared += one.token
            continue
        return any(
            token != one.token and one.logprob - logprob <= NEAR_TIE and text.startswith(shared + token)
            for token, logprob in one.alternatives
        )
    return False


async def check_penalty(client: ProbeClient, measure: Measure, name: str) -> Check:
    """Ask greedily with a strong penalty: text that repeats a token must change."""
    answer = await client.ask(fields={name: PENALTY})
    if isinstance(answer, Failure):
        return answer.check(name)
    if not measure.is_repeatable:
        return Check(name, Verdict.UNKNOWN, _NOT_REPEATABLE)
    if text_of(answer) != measure.greedy:
        return Check(name, Verdict.APPLIED, f"{name} {PENALTY:g} changes the greedy answer")
    if name in _OTHER_NAME:
        return await _check_other_name(client, measure, name)
    if must_change(measure.logprobs, name):
        return Check(
            name, Verdict.IGNORED, f"{name} {PENALTY:g} changes nothing, and by the logprobs it must"
        )
    return Check(name, Verdict.UNKNOWN, f"{name} {PENALTY:g} changes nothing, and perhaps it need not here")


async def _check_other_name(client: ProbeClient, measure: Measure, name: str) -> Check:
    other = _OTHER_NAME[name]
    answer = await client.ask(fields={other: PENALTY})
    is_applied = isinstance(answer, Completion) and text_of(answer) != measure.greedy
    known = f"this server calls it {other}" if is_applied else f"nor does {other}"
    return Check(name, Verdict.IGNORED, f"{name} {PENALTY:g} changes nothing; {known}")


def must_change(logprobs: Sequence[TokenLogprob], name: str) -> bool:
    """Whether a penalty, taken off the log probabilities as OpenAI defines it, turns some choice around.

    Differences of log probabilities are differences of logits, so the definition can be applied to them.
    """
    seen: Counter[str] = Counter()

    def penalised(token: str, logprob: float) -> float:
        times = seen[token]
        return logprob - PENALTY * (times if name == "frequency_penalty" else min(times, 1))

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
    if isinstance(answer, Failure):
        return answer.check(name)
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


def _first_error(answers: Sequence[Completion | Failure]) -> Failure | None:
    return next((answer for answer in answers if isinstance(answer, Failure)), None)
