"""Were two arms asked the same? The prompt tokens of their answers tell, where no page of a server does."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..plan import Plan
from ..runs.record import Record

LEAST_SHARE = 0.5  # of the samples that can be compared; one odd count is bookkeeping, not a template


@dataclass(slots=True)
class PromptSizes:
    """Samples of which both arms told the size of the prompt, those of which they differ, and the first such.

    Only samples count of which each arm gave one and the same size whenever it was asked: some servers leave
    out what their prefix cache held.
    """

    compared: int = 0
    differing: int = 0
    first: tuple[int, int] | None = None

    def add(self, other: "PromptSizes") -> None:
        """Add what later samples tell."""
        self.compared += other.compared
        self.differing += other.differing
        self.first = self.first or other.first


def compare_prompts(record: Record, baseline: str, candidate: str) -> PromptSizes:
    """Compare the sizes of prompts that two arms told, sample by sample."""
    sizes = list(_sizes(record, baseline, candidate))
    differing = [pair for pair in sizes if pair[0] != pair[1]]
    return PromptSizes(len(sizes), len(differing), differing[0] if differing else None)


def different_prompts(sizes: PromptSizes, plan: Plan, baseline: str, candidate: str) -> str | None:
    """Say in a sentence that one arm's prompts are longer or shorter; None if not, or if the plan allows it.

    A chat template or tokenizer of its own changes every prompt, and answers with it, just as speculation is
    suspected to.
    """
    if "prompt" in plan.run.allow or sizes.first is None:
        return None
    if sizes.differing < sizes.compared * LEAST_SHARE:
        return None
    mine, theirs = sizes.first
    return (
        f"{candidate} counts other prompt tokens than {baseline} on {sizes.differing} of {sizes.compared} "
        f"samples (the first: {theirs} against {mine}): another chat template or tokenizer "
        "(--allow prompt lets that be)"
    )


def _sizes(record: Record, baseline: str, candidate: str) -> Iterator[tuple[int, int]]:
    for sample in record.samples:
        mine, theirs = _told(record, sample.id, baseline), _told(record, sample.id, candidate)
        if mine is not None and theirs is not None:
            yield mine, theirs


def _told(record: Record, sample_id: str, arm: str) -> int | None:
    """The size that one arm told of one prompt; None if none, or several. 0 and less count nothing."""
    told: int | None = None
    for attempt in record.by_sample.get((sample_id, arm), ()):
        size = None if attempt.usage is None else attempt.usage.prompt_tokens
        if size is None or size <= 0 or size == told:
            continue
        if told is not None:
            return None
        told = size
    return told
