"""The one who asks in a probe: short questions to one model, one at a time, each of them counted.

One at a time: requests that share a batch change each other's sums, and a near-tie falls otherwise.
"""

from collections.abc import Mapping

from pydantic import JsonValue

from .attempt import EndpointError
from .endpoint import Endpoint
from .patience import SendError
from .response import Completion
from .server import ServerKind

# The answer is surely longer than any budget of a probe, and prose has near-ties that a penalty can turn.
STORY = "Tell me a long story about a lighthouse keeper, his dog and the sea."
# Copying is what drafts are best at.
COPY = "Repeat these words exactly, again and again: alpha bravo charlie delta echo foxtrot golf hotel india"
BUDGET = 24

Fields = Mapping[str, JsonValue]


class ProbeClient:
    """Asks one model of one endpoint.

    Attributes:
        requests: How many completions were asked for.
        drafted: Draft tokens that the answers themselves told of.
    """

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self.endpoint, self.model = endpoint, model
        self.requests = 0
        self.drafted = 0

    async def ask(
        self, text: str = STORY, *, budget: int = BUDGET, stream: bool = False, fields: Fields | None = None
    ) -> Completion | EndpointError:
        """Ask once; temperature 0 unless `fields` (of the request) say otherwise."""
        body = self.body(text, budget=budget, fields=fields)
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if self.endpoint.kind is ServerKind.VLLM:
            body["return_token_ids"] = True
        self.requests += 1
        try:
            completion = await self.endpoint.complete(body)
        except SendError as failure:
            return failure.error
        if completion.spec is not None:
            self.drafted += completion.spec.draft_tokens
        return completion

    def body(
        self, text: str = STORY, *, budget: int = BUDGET, fields: Fields | None = None
    ) -> dict[str, JsonValue]:
        """Return the request as it is sent."""
        return {
            "model": self.model,
            "messages": [{"role": "user", "content": text}],
            "max_tokens": budget,
            "temperature": 0.0,
            "top_p": 1.0,
            "seed": 1,
            "stream": False,
            **(fields or {}),
        }


def text_of(completion: Completion) -> str:
    """Return all that the model wrote as text, its thinking first."""
    return (completion.reasoning or "") + (completion.content or "")


def tokens_of(completion: Completion) -> int | None:
    """Return the number of tokens of an answer, as the server counted them."""
    return None if completion.usage is None else completion.usage.completion_tokens
