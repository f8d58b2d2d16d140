"""The answers of a run, each read once however often a session or a report looks at it."""

from dataclasses import dataclass, field

from ..parsers.dialect import Dialect
from ..parsers.result import Parsed
from ..parsers.tools import Tools
from .answer import Answer, read_answer
from .attempt import Attempt, Key
from .plan import Mode, RunSection


@dataclass(slots=True)
class Answers:
    """What was read so far; it goes from one state of a record to the next.

    Arms and controls mostly say the same to one sample, and the same text reads the same.
    """

    _read: dict[tuple[Key, int | None], tuple[RunSection, Answer]] = field(
        default_factory=dict[tuple[Key, int | None], tuple[RunSection, Answer]]
    )
    _parsed: dict[tuple[str, str | None, str | None], tuple[RunSection, Tools, Parsed]] = field(
        default_factory=dict[tuple[str, str | None, str | None], tuple[RunSection, Tools, Parsed]]
    )

    def read(
        self, attempt: Attempt, tools: Tools, dialect: Dialect, settings: RunSection, context: int | None
    ) -> Answer:
        """Read a successful attempt, or return what was read of it; the arguments are `read_answer`'s."""
        key = (attempt.key, context)
        held = self._read.get(key)
        if held is not None and held[0] is settings and held[1].attempt is attempt:
            return held[1]
        answer = read_answer(
            attempt, tools, dialect, settings, context, parsed=self._same_text(attempt, tools, settings)
        )
        self._read[key] = (settings, answer)
        if _is_text(attempt):
            self._parsed[attempt.id, attempt.content, attempt.reasoning] = (settings, tools, answer.parsed)
        return answer

    def _same_text(self, attempt: Attempt, tools: Tools, settings: RunSection) -> Parsed | None:
        if not _is_text(attempt):
            return None
        held = self._parsed.get((attempt.id, attempt.content, attempt.reasoning))
        return held[2] if held is not None and held[0] is settings and held[1] is tools else None


def _is_text(attempt: Attempt) -> bool:
    """Whether the answer was read from its text alone, not from what a server's parser made of it."""
    return attempt.mode is not Mode.NATIVE and attempt.reading is None and attempt.error is None
