"""Attempts without their contents: read when the answer comes, journalled as hashes and what they read as.

Nobody can read a hash again, so the reading is kept beside it: calls with hashed values, codes and places of
defects, and the few properties of the text that judging looks at.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from ...parsers.dialects import DIALECTS
from ...parsers.result import Json, Parsed
from ...tasks.redaction import (
    Hashes,
    kept_names,
    redact_calls,
    redact_message,
    redact_tool,
    refuse_unredactable,
)
from ...tasks.request_fields import PLANNED_FIELDS
from ...tasks.sample import Sample
from ..attempt import Attempt, ReadCall, Reading, ReadMark
from ..plan import Plan
from ..reading.answer import read_answer, visible_text
from ..reading.loops import loops
from ..reading.unfinished import stops_inside

if TYPE_CHECKING:
    from ...parsers.dialect import Dialect


class Redaction:
    """What a redacted run knows only while it asks: the samples in clear, and the key.

    Raises:
        UserError: A sample cannot be judged from hashes.
    """

    def __init__(self, plan: Plan, samples: Iterable[Sample]) -> None:
        self.samples: Mapping[str, Sample] = {sample.id: sample for sample in samples}
        refuse_unredactable(self.samples.values())
        self._hashes = Hashes.of(self.samples.values())
        self._plan = plan
        self._dialect: Dialect = DIALECTS[plan.run.dialect]

    def redact(self, attempt: Attempt) -> Attempt:
        """The attempt as it is journalled and judged."""
        sample, hashes = self.samples[attempt.id], self._hashes
        names = kept_names(sample)
        reading = None
        if attempt.succeeded and attempt.error is None:
            # How it ended is not read here: that needs nothing but counts, and facts that may come later.
            answer = read_answer(attempt, sample.tools, self._dialect, self._plan.run, context=None)
            reading = _reading(answer.parsed, visible_text(attempt), names, hashes)
        error = attempt.error
        return replace(
            attempt,
            stop_reason=cast("JsonValue", hashes.content(cast("Json", attempt.stop_reason))),
            content=None if attempt.content is None else hashes.text(attempt.content),
            reasoning=None if attempt.reasoning is None else hashes.text(attempt.reasoning),
            tool_calls=cast("JsonValue", redact_calls(cast("Json", attempt.tool_calls), names, hashes)),
            request=self._request(attempt, names),
            raw_text=None,
            error=None if error is None else replace(error, message=hashes.text(error.message)),
            reading=reading,
        )

    def _request(self, attempt: Attempt, names: frozenset[str]) -> dict[str, JsonValue]:
        of_arm = self._plan.arm(attempt.arm).extra_body
        return {
            name: value if name in of_arm else self._field(name, value, names)
            for name, value in attempt.request.items()
        }

    def _field(self, name: str, value: JsonValue, names: frozenset[str]) -> JsonValue:
        match name, value:
            case "messages", list():
                redacted = [
                    redact_message(cast("dict[str, Json]", one), names, self._hashes) for one in value
                ]
            case "tools", list():
                redacted = [redact_tool(cast("dict[str, Json]", one), names, self._hashes) for one in value]
            case "prompt", _:
                # Rendered by the server: the whole conversation, as text or as tokens that can be read.
                return self._hashes.value(cast("Json", value))
            case _ if name in PLANNED_FIELDS:
                return value
            case _:
                redacted = self._hashes.content(cast("Json", value))
        return cast("JsonValue", redacted)


def _reading(parsed: Parsed, text: str, names: frozenset[str], hashes: Hashes) -> Reading:
    def name_of(name: str) -> str:
        # What is not declared is the model's own words.
        return name if name in names else hashes.value(name)

    return Reading(
        calls=tuple(
            ReadCall(
                name_of(call.name),
                {name_of(name): hashes.value(value) for name, value in call.arguments.items()},
                call.span,
            )
            for call in parsed.calls
        ),
        defects=tuple(ReadMark(defect.code.value, defect.span) for defect in parsed.defects),
        notes=tuple(ReadMark(note.code.value, note.span) for note in parsed.notes),
        content=hashes.text(parsed.content if parsed.content.strip() else ""),
        reasoning=hashes.text(parsed.reasoning if parsed.reasoning.strip() else ""),
        open=parsed.open,
        loops=loops(text),
        stops_inside=stops_inside(parsed.content),
    )
