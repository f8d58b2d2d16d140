"""A toy model behind a scripted server: it obeys every sampling parameter, unless a test says otherwise.

Its vocabulary is 40 words; at each place one token is best, one is near behind it, and the rest is far away.
"""

import json
import random
from dataclasses import dataclass, field
from typing import Any

from ...scripted import (
    ScriptedReply,
    ScriptedRequest,
    answer,
    error,
    json_reply,
    streamed,
    text_reply,
    tool_call,
)

WORDS = 40
GAP = 1.0
BY_NUMBER = {"top_k": 1, "top_p": 0.0001, "min_p": 1.0}


@dataclass(frozen=True)
class Toy:
    """How a server behaves; the default is without fault.

    `ignores` and `refuses` name request fields, `refuses_streamed` those refused only in a stream (by an
    error event inside HTTP 200), `dies_of` a field after which nothing is answered any more.
    """

    ignores: frozenset[str] = frozenset()
    refuses: frozenset[str] = frozenset()
    refuses_streamed: frozenset[str] = frozenset()
    dies_of: str | None = None
    length_is: str = "length"
    extra_tokens: int = 0
    usage: bool = True
    streams: bool = True
    repeats_itself: bool = True
    logprobs: str = "true"  # "absent", "zero"
    runs_on: bool = False
    call: str = "call"  # "text", "array", "prose", "cut"
    ids: bool = True
    dead: list[int] = field(default_factory=list[int])  # numbers of the requests since it died

    def __call__(self, request: ScriptedRequest) -> ScriptedReply:
        body = request.body
        if self.dies_of in body or self.dead:
            self.dead.append(request.number)
            return error(500, "EngineCore died")
        if refused := sorted(self.refuses & body.keys()):
            return error(400, f"{refused[0]} is not supported")
        if body["stream"] and (refused := sorted(self.refuses_streamed & body.keys())):
            event = {"error": {"message": f"{refused[0]} is not supported", "code": 400}}
            return text_reply(f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n", 200, "text/event-stream")
        body = {name: value for name, value in body.items() if name not in self.ignores}
        if isinstance(body.get("tool_choice"), dict):
            return self._call()
        return self._answer(body, request.number)

    def _call(self) -> ScriptedReply:
        match self.call:
            case "call":
                return answer(None, "tool_calls", tool_calls=[tool_call("set_light", {"on": True})])
            case "cut":
                cut = [tool_call("set_light", '{"on":      ')]
                return answer(None, "tool_calls", tool_calls=cut, completion_tokens=96)
            case "array":
                return answer(None, "tool_calls", tool_calls=[tool_call("set_light", "[]")])
            case "text":
                return answer('<tool_call>{"name": "set_light"}</tool_call>')
            case _:
                return answer("It is on now.")

    def _answer(self, body: dict[str, Any], number: int) -> ScriptedReply:
        ids = self._sample(body, number)
        budget = body["max_tokens"]
        words = [f" w{one:02d}" for one in ids]
        text, reason = "".join(words), self.length_is
        for stop in body.get("stop", []):
            if stop in text:
                end = text.index(stop) + (len(stop) + 4 if self.runs_on else 0)
                text, reason = text[:end], "stop"
        counted = {
            "prompt_tokens": 20 + 30 * ("tools" in body),
            "completion_tokens": budget + self.extra_tokens,
            "usage": self.usage,
        }
        if body["stream"] and self.streams:
            pieces = [text[n : n + 8] for n in range(0, len(text), 8)]
            return streamed([{"content": piece} for piece in pieces], reason, **counted)
        reply = answer(text, reason, **counted)
        if body.get("logprobs") and self.logprobs != "absent":
            whole = json.loads(reply.body)
            whole["choices"][0]["logprobs"] = {
                "content": [self._logprob(*pair) for pair in zip(ids, words, strict=True)]
            }
            return json_reply(whole)
        return reply

    def _logprob(self, one: int, word: str) -> dict[str, Any]:
        if self.logprobs == "zero":
            return {"token": word, "logprob": 0.0, "top_logprobs": []}
        other = f" w{(one + 20) % WORDS:02d}"
        tops = [{"token": word, "logprob": -0.5}, {"token": other, "logprob": -0.5 - GAP}]
        return {"token": word, "logprob": -0.5, "top_logprobs": tops, **({"id": one} if self.ids else {})}

    def _sample(self, body: dict[str, Any], number: int) -> list[int]:
        hot = random.Random(body.get("seed", number))
        is_only_best = any(body.get(name) == value for name, value in BY_NUMBER.items())
        ids: list[int] = []
        for place in range(body["max_tokens"]):
            best = place % 7 if self.repeats_itself else (place + number) % 7
            scores = dict.fromkeys(range(WORDS), -30.0) | {best: 0.0, best + 20: -GAP}
            for one in scores:
                scores[one] += body.get("logit_bias", {}).get(str(one), 0)
                times = ids.count(one)
                scores[one] -= body.get("presence_penalty", 0) * min(times, 1)
                scores[one] -= (body.get("frequency_penalty", 0)) * times
                scores[one] -= body.get("repetition_penalty", 0) * min(times, 1)
            is_greedy = is_only_best or not body.get("temperature")
            ids.append(max(scores, key=scores.__getitem__) if is_greedy else hot.randrange(WORDS))
        return ids
