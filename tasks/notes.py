"""What a user should know of the samples of a suite, counted: it stops no run, and is not kept silent."""

from collections.abc import Iterable, Iterator, Mapping

from .sample import Sample
from .values import shown


class NoteCounter:
    """Counts what is odd about samples, one at a time, and says it in sentences."""

    def __init__(self) -> None:
        self._count = 0
        self._without_tools = 0
        self._unchecked = 0
        self._first_unchecked = ""
        self._padded = 0

    def add(self, sample: Sample) -> None:
        """Count one sample."""
        self._count += 1
        self._without_tools += not sample.tools.declared
        if sample.tools.unchecked:
            self._unchecked += 1
            self._first_unchecked = (
                self._first_unchecked or f"{shown(sample.id)}: {sample.tools.unchecked[0]}"
            )
        source = sample.metadata.get("source")
        self._padded += isinstance(source, Mapping) and "nulls_taken_out" in source

    def sentences(self) -> Iterator[str]:
        """Say what was counted."""
        of_all = f"of {self._count} samples"
        if self._unchecked:
            yield (
                f"{self._unchecked} {of_all} declare a tool that is none; calls of it are not checked "
                f"against its schema (the first: {self._first_unchecked})"
            )
        if self._without_tools:
            yield f"{self._without_tools} {of_all} declare no tool: text is not compared, and no call is due"
        if self._padded:
            yield (
                f"{self._padded} {of_all} come from columns of structs, where a member that is missing reads "
                "as null; nulls that could be nothing else were taken out"
            )


def notes_of(samples: Iterable[Sample]) -> tuple[str, ...]:
    """Say what is odd about some samples."""
    counter = NoteCounter()
    for sample in samples:
        counter.add(sample)
    return tuple(counter.sentences())
