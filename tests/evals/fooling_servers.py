"""Cases about servers: failures that hide regressions, speculation that is none, noise, and other tricks."""

import json
import threading
from collections import Counter
from collections.abc import Callable

from ..scripted import ScriptedReply, answer, error, json_reply, text_reply
from .fooling import (
    Case,
    arguments_of,
    block,
    is_hard,
    number_of,
    on_hard,
    right,
)

CONTROL = {"control": True}
DRAFTED = {"draft_n": 40, "draft_n_accepted": 30}
NOT_DRAFTED = {"predicted_n": 40}


def wrong(request):
    return answer(block(arguments_of(request, city="Elsewhere")))


def failing_first(failure: ScriptedReply, then: Callable) -> Callable:
    """Each hard question fails once, and is answered when it is asked again."""
    asked: Counter[tuple[int, int]] = Counter()
    lock = threading.Lock()

    def reply(request):
        key = number_of(request), request.body["seed"]
        with lock:
            asked[key] += 1
            is_first = asked[key] == 1
        return failure if is_first else then(request)

    return on_hard(reply)


def by_turn(*scripts):
    """Each question's answers in turn: first, then the control or the confirmations."""
    asked: Counter[int] = Counter()
    lock = threading.Lock()

    def reply(request):
        with lock:
            turn = asked[number_of(request)]
            asked[number_of(request)] += 1
        return scripts[min(turn, len(scripts) - 1)](request)

    return reply


def where(picked: Callable[[int], bool], spoiled=wrong):
    return lambda request: spoiled(request) if picked(number_of(request)) else right(request)


def metrics(drafted_before, drafted_after):
    """A metrics page whose totals grow once, after its first reading."""
    read = Counter()

    def page():
        read["times"] += 1
        drafted = drafted_before if read["times"] == 1 else drafted_after
        return text_reply(
            f"vllm:spec_decode_num_draft_tokens_total {drafted}\n"
            f"vllm:spec_decode_num_accepted_tokens_total {drafted // 2}\n"
        )

    return {"/metrics": page}


def filtering(reason):
    """One hard question is not answered but given up, under HTTP 200."""
    return where(lambda number: number < 4, lambda _r: answer(None, reason, completion_tokens=0))


def error_200(_request):
    return json_reply({"error": {"message": "overloaded", "code": 503}})


SERVERS = [
    # failures
    Case(
        "HTTP 500 on what is hard",
        "An arm that fails on a third of its samples cannot be judged, least of all passed.",
        on_hard(lambda _r: error(500)),
        decision="void",
        void_codes={"endpoint_error": 8},
        run={"retries": 0},
        reason="mtp: 8 of 24 samples are void",
    ),
    Case(
        "a few HTTP 500s, tolerated",
        "Failures of the candidate alone count against a pass, even where the plan tolerates them.",
        where(lambda number: number < 4, lambda _r: error(500)),
        decision="inconclusive",
        void_codes={"endpoint_error": 4},
        run={"retries": 0},
        gate={"max_failed": 0.5, "margin": 0.15},
    ),
    Case(
        "many HTTP 500s, tolerated",
        "An endpoint that fails significantly more often is a regression.",
        on_hard(lambda _r: error(500)),
        void_codes={"endpoint_error": 8},
        run={"retries": 0},
        gate={"max_failed": 0.5},
        reason="fails significantly more often",
    ),
    Case(
        "HTTP 500 until it is asked again",
        "What a retry mends is no void; the retries are on record.",
        failing_first(error(500), right),
        decision="pass",
    ),
    Case(
        "a storm of HTTP 429",
        "A server that asks for patience gets it, and nobody is the worse for it.",
        failing_first(error(429, retry_after="0"), right),
        decision="pass",
    ),
    Case(
        "a retry in a clock that is wrong",
        "A date long past asks for no wait, and is no failure.",
        failing_first(error(503, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"), right),
        decision="pass",
    ),
    Case(
        "wrong when it is asked again",
        "A retry that brings a wrong answer brings a wrong answer.",
        failing_first(error(500), wrong),
        causes={"real_change": 8},
        codes={"wrong_arguments": 8},
    ),
    Case(
        "an error under HTTP 200",
        "An error is no empty answer of the model.",
        on_hard(error_200),
        decision="void",
        void_codes={"bad_response": 8},
        run={"retries": 0},
    ),
    Case(
        "the server cannot read its own model",
        "HTTP 500 about the model's output is a broken call, not an outage.",
        on_hard(lambda _r: error(500, "The model produced output that does not match the expected format")),
        causes={"malformed": 8},
        codes={"server_parse_failure": 8},
    ),
    Case(
        "aborted on what is hard",
        "Answers that only the candidate gave up may hide regressions: they count against a pass.",
        filtering("abort"),
        decision="inconclusive",
        void_codes={"aborted": 4},
        gate={"max_failed": 0.5, "margin": 0.15},
    ),
    Case(
        "filtered on what is hard",
        "So do answers that only the candidate's filter took away.",
        filtering("content_filter"),
        decision="inconclusive",
        void_codes={"filtered": 4},
        gate={"max_failed": 0.5, "margin": 0.15},
    ),
    Case(
        "the larger budget is refused",
        "HTTP 400 at the doubled budget leaves the cut answer standing, unresolved.",
        on_hard(
            lambda r: (
                error(400, "max_tokens is too large")
                if r.body["max_tokens"] > 100
                else answer("<tool_call>\n{", "length", completion_tokens=100)
            )
        ),
        causes={"unresolved": 8},
        codes={"context_limit": 8},
    ),
    Case(
        "HTTP 500 at the larger budget",
        "A cut answer whose second asking fails is no pass.",
        where(
            lambda number: number < 4,
            lambda r: (
                error(500)
                if r.body["max_tokens"] > 100
                else answer("<tool_call>\n{", "length", completion_tokens=100)
            ),
        ),
        decision="inconclusive",
        void_codes={"endpoint_error": 4},
        run={"retries": 0},
        gate={"margin": 0.15},
    ),
    # speculation
    Case(
        "a candidate that never drafts",
        "Equal answers of a server that drafted nothing prove nothing.",
        lambda r: right(r, timings=NOT_DRAFTED),
        decision="void",
        reason="drafted nothing",
    ),
    Case(
        "answers of the baseline out of a cache",
        "The same words under the same fingerprint, with counters that stand still, prove nothing.",
        lambda r: right(r, system_fingerprint="fp_1"),
        baseline=lambda r: right(r, system_fingerprint="fp_1"),
        pages={"mtp": metrics(700, 700)},
        decision="void",
        reason="drafted nothing",
    ),
    Case(
        "drafts in the answers, none on the page",
        "Drafts that came with the answers happened, whatever another page says.",
        lambda r: right(r, timings=DRAFTED),
        pages={"mtp": metrics(0, 0)},
        decision="pass",
    ),
    Case(
        "drafts on the page, none in the answers",
        "The server's own totals prove them as well.",
        lambda r: right(r, timings=NOT_DRAFTED),
        pages={"mtp": metrics(0, 900)},
        decision="pass",
    ),
    Case(
        "a negative number of drafts",
        "Less than nothing was not counted: neither a proof of speculation nor against it.",
        lambda r: right(r, timings=DRAFTED),
        baseline=lambda r: right(r, timings={"draft_n": -1, "draft_n_accepted": -1}),
        decision="pass",
    ),
    Case(
        "a baseline that drafts in secret",
        "A baseline whose answers tell of drafts is none.",
        lambda r: right(r, timings=DRAFTED),
        baseline=where(lambda number: number == 20, lambda r: right(r, timings=DRAFTED)),
        decision="void",
        reason="baseline speculates",
    ),
    Case(
        "a baseline whose page tells",
        "So is one whose server counted drafts during the run.",
        right,
        pages={"baseline": metrics(10, 400)},
        decision="void",
        reason="baseline speculates",
    ),
    Case(
        "a baseline that drafts only when asked again",
        "Drafts in the control make it no baseline either.",
        lambda r: right(r, timings=DRAFTED),
        baseline=by_turn(right, lambda r: right(r, timings=DRAFTED)),
        decision="void",
        reason="baseline speculates",
        run=CONTROL,
    ),
    # noise, and what looks like it
    Case(
        "as noisy as the baseline",
        "A candidate that is wrong as often as the baseline, elsewhere, is no worse.",
        where(lambda number: number % 12 == 0),
        baseline=by_turn(where(lambda number: number % 12 == 5), where(lambda number: number % 12 == 7)),
        decision="pass",
        causes={"real_change": 2},
        codes={"wrong_arguments": 2},
        fixes=2,
        run=CONTROL,
        gate={"margin": 0.25},
    ),
    Case(
        "unlabelled, and the baseline is noisy",
        "Without labels the baseline's own noise is what the candidate's is held against.",
        where(lambda number: number in (0, 12)),
        baseline=by_turn(right, where(lambda number: number in (5, 17))),
        decision="pass",
        causes={"real_change": 2},
        codes={"wrong_arguments": 2},
        fixes=2,
        suite="unlabelled",
        run=CONTROL,
        gate={"margin": 0.25},
    ),
    Case(
        "unlabelled, and the baseline repeats itself",
        "Where a fix cannot occur there is no net rate, and a changed answer is called just that.",
        where(lambda number: number < 2),
        decision="inconclusive",
        causes={"real_change": 2},
        codes={"wrong_arguments": 2},
        suite="unlabelled",
        run=CONTROL,
        reason="changed: 2 of 24",
    ),
    Case(
        "worse on what is hard, better on what is easy",
        "Mended meanings do not pay for broken syntax.",
        on_hard(lambda _r: answer(block('{"city": 05}'))),
        baseline=lambda r: right(r) if number_of(r) < 16 else wrong(r),
        causes={"malformed": 8},
        codes={"invalid_json": 8},
        fixes=8,
        reason="broken syntax: 8 new, 0 gone",
    ),
    Case(
        "one broken call in a good run",
        "A single reproduced broken call stands in the way of a pass.",
        where(lambda number: number == 3, lambda _r: answer(block('{"city": 05}'))),
        decision="inconclusive",
        causes={"malformed": 1},
        codes={"invalid_json": 1},
        run={"confirm": 2},
        reason="1 new outputs of broken syntax",
    ),
    Case(
        "right when it is confirmed",
        "Confirmations label findings; the count of regressions is that of the first answers.",
        by_turn(lambda r: wrong(r) if is_hard(r) else right(r), right),
        causes={"real_change": 8},
        codes={"wrong_arguments": 8},
        run={"confirm": 2},
    ),
    Case(
        "seeds ignored at temperature 1",
        "A sampling server that draws anew each time is as noisy as the baseline, and no worse.",
        where(lambda number: number in (2, 9)),
        baseline=by_turn(where(lambda number: number in (4, 21)), where(lambda number: number in (1, 14))),
        decision="pass",
        causes={"real_change": 2},
        codes={"wrong_arguments": 2},
        fixes=2,
        run={"control": True, "temperature": 1.0},
        gate={"margin": 0.25},
    ),
    Case(
        "the baseline hardly knows the dialect",
        "A baseline that is wrong almost everywhere proves nothing about a candidate.",
        right,
        baseline=where(lambda number: number > 3),
        decision="void",
        fixes=20,
        reason="the baseline is right on 4 of 24",
    ),
    # what the arms were given
    Case(
        "another prompt",
        "Arms that count other prompt tokens for the same question were asked another question.",
        lambda r: right(r, prompt_tokens=33),
        decision="void",
        reason="another chat template",
    ),
    Case(
        "another prompt, allowed",
        "Unless the plan allows it by name.",
        lambda r: right(r, prompt_tokens=33),
        decision="pass",
        run={"allow": ["prompt"]},
    ),
    Case(
        "another model's name in the answer",
        "A server calls its model what it likes; that is on nobody's account.",
        lambda r: json_reply({**json.loads(right(r).body), "model": "something-else"}),
        decision="pass",
    ),
]
