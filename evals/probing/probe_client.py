"""The one who asks in a probe: short questions to one model, one at a time, each of them counted.

One at a time: requests that share a batch change each other's sums, and a near-tie falls otherwise.
"""

from collections.abc import Mapping

from pydantic import JsonValue

from ..attempt import EndpointError, ErrorType
from ..servers.endpoint import Endpoint
from ..servers.patience import SendError
from ..servers.response import Completion
from ..servers.server import ServerKind
from .check import Failure, Verdict, words_of

# The answer is surely longer than any budget of a probe, and prose has near-ties that a penalty can turn.
STORY = "Tell me a long story about a lighthouse keeper, his dog and the sea."
# Copying is what drafts are best at: the answer stands in an earlier turn already.
_LIST = "alpha, bravo, charlie, delta, echo, foxtrot, golf, hotel, india, juliett, kilo, lima, mike, november"
COPY = ("Say the list.", _LIST, "Say the list again.", _LIST, "Say the list again.")
BUDGET = 24

Fields = Mapping[str, JsonValue]
# One question, or turns of user and assistant in turn.
Question = str | tuple[str, ...]


class ProbeClient:
    """Asks one model of one endpoint.

    Attributes:
        requests: How many completions were asked for.
        drafted: Draft tokens that the answers themselves told of.
        is_gone: Whether the server has stopped answering.
    """

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self.endpoint, self.model = endpoint, model
        self.requests = 0
        self.drafted = 0
        self.is_gone = False

    async def ask(
        self,
        text: Question = STORY,
        *,
        budget: int = BUDGET,
        stream: bool = False,
        fields: Fields | None = None,
    ) -> Completion | Failure:
        """Ask once; temperature 0 unless `fields` (of the request) say otherwise.

        A server can die of a question (engines have died of one sampling parameter): then nothing more is
        asked, and every later question fails.
        """
        if self.is_gone:
            return Failure(Verdict.UNKNOWN, "not asked: the server no longer answers")
        body = self.body(text, budget=budget, fields=fields)
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if self.endpoint.kind is ServerKind.VLLM:
            body["return_token_ids"] = True
        self.requests += 1
        try:
            completion = await self._completed(body)
        except SendError as failure:
            if _may_be_dead(failure.error) and await self._is_dead():
                self.is_gone = True
                words = f"the server answers nothing more since this request: {words_of(failure.error)}"
                return Failure(Verdict.WRONG, words)
            return Failure.of(failure.error)
        if completion.spec is not None:
            self.drafted += completion.spec.draft_tokens
        return completion

    async def _completed(self, body: Mapping[str, JsonValue]) -> Completion:
        """Send; once more where a connection was lost: servers close idle ones as they are used again."""
        try:
            return await self.endpoint.complete(body)
        except SendError as failure:
            if failure.error.type is not ErrorType.ENDPOINT_ERROR or failure.error.status is not None:
                raise
        self.requests += 1
        return await self.endpoint.complete(body)

    async def _is_dead(self) -> bool:
        self.requests += 1
        try:
            await self.endpoint.complete(self.body(budget=1))
        except SendError as failure:
            return _may_be_dead(failure.error)
        return False

    def body(
        self, text: Question = STORY, *, budget: int = BUDGET, fields: Fields | None = None
    ) -> dict[str, JsonValue]:
        """Return the request as it is sent."""
        turns = (text,) if isinstance(text, str) else text
        return {
            "model": self.model,
            "messages": [
                {"role": "assistant" if n % 2 else "user", "content": turn} for n, turn in enumerate(turns)
            ],
            "max_tokens": budget,
            "temperature": 0.0,
            "top_p": 1.0,
            "seed": 1,
            "stream": False,
            **(fields or {}),
        }


def _may_be_dead(error: EndpointError) -> bool:
    return error.status is None or error.status >= 500


def text_of(completion: Completion) -> str:
    """Return all that the model wrote as text, its thinking first."""
    return (completion.reasoning or "") + (completion.content or "")


def tokens_of(completion: Completion) -> int | None:
    """Return the number of tokens of an answer, as the server counted them."""
    return None if completion.usage is None else completion.usage.completion_tokens
