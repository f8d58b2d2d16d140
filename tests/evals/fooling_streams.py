"""Cases about streams: what they lose, say twice, or break off."""

import json
from dataclasses import replace

from ..scripted import streamed
from .fooling import (
    CAP_ONLY,
    HARD,
    NEEDED,
    Case,
    arguments_of,
    budget_of,
    call_deltas,
    is_hard,
    on_hard,
    right_stream,
)

STREAM = {"mode": "native", "stream": True}


def with_events(reply, *events, before_done=True):
    """The stream with more events: before its `[DONE]`, or after it."""
    pieces = tuple(f"data: {json.dumps(event)}\n\n".encode() for event in events)
    *most, done = reply.pieces
    return replace(reply, pieces=(*most, *pieces, done) if before_done else (*most, done, *pieces))


def two_reasons(request):
    """The engine says `length`; a proxy behind it closes every stream with `stop`."""
    if budget_of(request) >= NEEDED:
        return right_stream(request)
    half = json.dumps(arguments_of(request))[:-4]
    deltas = call_deltas(request, half)
    reply = streamed(deltas, "length", usage=False)
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return with_events(reply, last)


def named_in_every_delta(request):
    deltas = call_deltas(request)
    for delta in deltas[1:]:
        delta["tool_calls"][0]["function"]["name"] = "get_weather"
    return streamed(deltas, "tool_calls")


def error_object_then_done(request):
    """Half a call, then an error in the older form, and `[DONE]` as if all were well."""
    deltas = call_deltas(request)[:2]
    reply = streamed(deltas, None, usage=False)
    return with_events(reply, {"object": "error", "message": "engine died", "type": "internal", "code": 500})


STREAMS = [
    # streams
    Case(
        "the last delta dropped",
        "Arguments that end early under the cap are broken.",
        on_hard(lambda r: streamed(call_deltas(r)[:-1], "tool_calls"), right_stream),
        causes={"malformed": 8},
        codes={"unclosed_block": 8},
        run=STREAM,
    ),
    Case(
        "a delta twice",
        "A piece that came twice is joined twice, as a client would.",
        on_hard(lambda r: streamed([*call_deltas(r)[:2], *call_deltas(r)[1:]], "tool_calls"), right_stream),
        causes={"malformed": 8},
        codes={"unclosed_block": 8},
        run=STREAM,
    ),
    Case(
        "the name in every delta",
        "Names are joined like arguments: this is no declared function.",
        on_hard(named_in_every_delta, right_stream),
        causes={"malformed": 8},
        codes={"undeclared_function": 8},
        run=STREAM,
    ),
    Case(
        "indexes swapped",
        "Parallel calls may come in any order of their indexes.",
        lambda r: streamed([*call_deltas(r, None, 1), *call_deltas(r, None, 0, "get_news")], "tool_calls"),
        baseline=lambda r: streamed([*call_deltas(r), *call_deltas(r, None, 1, "get_news")], "tool_calls"),
        decision="pass",
        suite="two",
        run=STREAM,
    ),
    Case(
        "two calls under one index",
        "What a client would join into one call is broken.",
        on_hard(
            lambda r: streamed([*call_deltas(r), *call_deltas(r, None, 0, "get_news")], "tool_calls"),
            lambda r: streamed([*call_deltas(r), *call_deltas(r, None, 1, "get_news")], "tool_calls"),
        ),
        baseline=lambda r: streamed([*call_deltas(r), *call_deltas(r, None, 1, "get_news")], "tool_calls"),
        causes={"malformed": 8},
        codes={"undeclared_function": 8},
        suite="two",
        run=STREAM,
    ),
    Case(
        "no finish but a whole stream",
        "A right call stays right where only the reason is missing.",
        lambda r: streamed(call_deltas(r), None),
        decision="pass",
        run=STREAM,
    ),
    Case(
        "a stream that breaks off",
        "Half a stream is the endpoint's failure, and too many of them make the arm void.",
        on_hard(lambda r: streamed(call_deltas(r)[:2], None, usage=False, done=False), right_stream),
        decision="void",
        void_codes={"bad_response": 8},
        run={**STREAM, "retries": 0},
    ),
    Case(
        "an error in the middle, then DONE",
        "What came before a server's error is no answer of the model.",
        on_hard(error_object_then_done, right_stream),
        decision="void",
        void_codes={"endpoint_error": 8},
        run={**STREAM, "retries": 0},
    ),
    Case(
        "an error after a whole answer",
        "What follows the terminator is no part of the answer.",
        lambda r: with_events(
            right_stream(r), {"error": {"message": "late", "code": 500}}, before_done=False
        ),
        decision="pass",
        run=STREAM,
    ),
    Case(
        "length, then stop",
        "A cut that was said once is not taken back by a second reason.",
        on_hard(two_reasons, right_stream),
        decision="pass",
        run=STREAM,
        **CAP_ONLY,
    ),
    Case(
        "usage in some streams only",
        "A count that is missing now and then breaks nothing.",
        lambda r: streamed(call_deltas(r), "tool_calls", usage=is_hard(r)),
        decision="pass",
        run=STREAM,
    ),
]

assert HARD == 8, "the counts above are those of the hard samples"
