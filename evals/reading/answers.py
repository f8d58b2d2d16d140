"""The answers of a run, each read once however often a session or a report looks at it."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ...parsers.dialect import Dialect
from ...parsers.result import Parsed
from ...parsers.tools import Tools
from ...tasks.sample import Sample
from ..attempt import Attempt, Stage
from ..plan import Mode, RunSection
from .answer import Answer, read_answer, settle_endings

# Which of an arm's answers to a sample: stage, budget, number.
Rung: TypeAlias = tuple[Stage, int, int]


@dataclass(frozen=True, slots=True)
class _Held:
    """What an attempt was read as, and with which settings and tools."""

    attempt: Attempt
    settings: RunSection
    tools: Tools
    parsed: Parsed


@dataclass(slots=True)
class Answers:
    """What was read so far; it goes from one state of a record to the next.

    Arms and controls mostly say the same to one sample, and the same text reads the same.
    """

    _parsed: dict[Hashable, _Held] = field(default_factory=dict[Hashable, _Held])
    _rungs: dict[tuple[str, str, int | None], tuple[Sequence[Attempt], Mapping[Rung, Answer]]] = field(
        default_factory=dict[tuple[str, str, int | None], tuple[Sequence[Attempt], Mapping[Rung, Answer]]]
    )

    def of_sample(
        self,
        attempts: Sequence[Attempt],
        arm: str,
        sample: Sample,
        dialect: Dialect,
        settings: RunSection,
        context: int | None,
    ) -> Mapping[Rung, Answer]:
        """Read what one arm answered to one sample, each ending settled by the answers at other budgets.

        Args:
            attempts: All attempts of that sample and arm, the same object as long as they are the same.
            arm: The arm's name.
            sample: The sample.
            dialect: See `read_answer`, as the rest.
            settings: Of the run.
            context: Tokens that prompt and answer share on this server.
        """
        place = (sample.id, arm, context)
        held = self._rungs.get(place)
        if held is not None and held[0] is attempts:
            return held[1]
        read = {
            (attempt.stage, attempt.max_tokens, attempt.attempt): self.read(
                attempt, sample.tools, dialect, settings, context
            )
            for attempt in attempts
            if attempt.succeeded
        }
        # First and doubled are one ladder, the controls another; a confirmation stands alone.
        for stages in ((Stage.FIRST, Stage.DOUBLED), (Stage.CONTROL,)) if len(read) > 1 else ():
            rungs = {rung[1]: rung for rung in read if rung[0] in stages}
            if len(rungs) > 1:
                settled = settle_endings({budget: read[rung] for budget, rung in rungs.items()})
                read.update((rungs[budget], answer) for budget, answer in settled.items())
        self._rungs[place] = (attempts, read)
        return read

    def read(
        self, attempt: Attempt, tools: Tools, dialect: Dialect, settings: RunSection, context: int | None
    ) -> Answer:
        """Read a successful attempt; the arguments are `read_answer`'s."""
        # What a server's parser made of an answer reads the same for that attempt alone, whose object lives
        # as long as it is held.
        what = (
            (attempt.id, attempt.content, attempt.reasoning) if _is_text(attempt) else (id(attempt), context)
        )
        held = self._parsed.get(what)
        if held is not None and held.settings is settings and held.tools is tools:
            return read_answer(attempt, tools, dialect, settings, context, parsed=held.parsed)
        answer = read_answer(attempt, tools, dialect, settings, context)
        self._parsed[what] = _Held(attempt, settings, tools, answer.parsed)
        return answer


def _is_text(attempt: Attempt) -> bool:
    """Whether the answer was read from its text alone, not from what a server's parser made of it."""
    return attempt.mode is not Mode.NATIVE and attempt.reading is None and attempt.error is None
