"""Mutations that keep JSON whole: bytes flipped at random would hardly ever get past `json.loads`."""

import json
import random

# What servers send where something else was due.
VALUES = (
    *(None, True, False, 0, 1, -1, 7, 2**53, 10**30, 1.5, 1e308, float("nan"), float("inf")),
    *("", " ", "0", "stop", "length", "tool_calls", "content_filter", "error", "abort", "x" * 300),
    *("\ud800", "\x00", "é🙂", "<tool_call>", "</think>", "{", "{}", '{"city": "Oslo"}', '{"ci', "now"),
    *([], [[]], [None], [{}], {}, {"": ""}, {"text": "a"}, [{"type": "text", "text": "a"}]),
)
NAMES = (
    *("choices", "message", "delta", "text", "index", "finish_reason", "stop_reason", "error", "usage", "id"),
    *("content", "reasoning", "reasoning_content", "tool_calls", "function", "name", "arguments", "type"),
    *("timings", "metrics", "token_ids", "logprobs", "completion_tokens", "prompt_tokens", "object", "code"),
    *("draft_n", "draft_n_accepted", "status", "system_fingerprint", "speculative_decoding", "cached_tokens"),
)
DEEP = 3_000


def places(value):
    """Every (container, key) of a JSON value, at most a thousand."""
    found, waiting = [], [value]
    while waiting and len(found) < 1_000:
        one = waiting.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        for key in keys:
            found.append((one, key))
            waiting.append(one[key])
    return found


def mutate_json(text, rng):
    """One change somewhere in a JSON text; None if it is none, or has no inside."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not (found := places(value)):
        return None
    container, key = rng.choice(found)
    match rng.randrange(7):
        case 0:
            container[key] = rng.choice(VALUES)
        case 1:
            del container[key]
        case 2 if isinstance(container, dict):
            container[rng.choice(NAMES)] = rng.choice(VALUES)
        case 3 if isinstance(container, dict):
            container[rng.choice(NAMES)] = container.pop(key)
        case 4 if isinstance(container, list):
            container.insert(key, container[key])
        case 5:
            other, place = rng.choice(found)
            container[key] = json.loads(json.dumps(other[place]))
        case _ if isinstance(container[key], str):
            at = rng.randint(0, len(container[key]))
            container[key] = container[key][:at] + rng.choice(NAMES) + container[key][at:]
        case _:
            container[key] = "\0deep"
    deep = "[" * DEEP + "]" * DEEP
    return json.dumps(value, ensure_ascii=rng.random() < 0.5).replace('"\\u0000deep"', deep)


def mutate_body(data, rng):
    """A changed body; None to leave it to the fuzzer's own mutations."""
    text = mutate_json(data.decode("utf-8", "replace"), rng)
    return None if text is None else text.encode("utf-8", "surrogatepass")


def mutate_stream(data, rng):
    """A changed stream of events: one event's JSON changed, doubled, dropped or moved."""
    events = data.split(b"\n\n")
    at, to = rng.randrange(len(events)), rng.randrange(len(events))
    match rng.randrange(6):
        case 0:
            events.insert(to, events[at])
        case 1:
            del events[at]
        case 2:
            events[at], events[to] = events[to], events[at]
        case _:
            changed = mutate_body(events[at].removeprefix(b"data: "), rng)
            if changed is None:
                return None
            events[at] = b"data: " + changed
    return b"\n\n".join(events)


def seeded(mutate, data, seed):
    """`mutate` with a generator of its own, so that a seed gives one result."""
    return mutate(data, random.Random(seed))
