"""Regressions and fixes by what held the model to a form: grammars hide faults, and cause their own."""

from ..evals.comparing.comparison import churn_by_category
from ..evals.plan import Mode
from ..evals.summing_up.summary import Summary
from ..tasks.sample import Sample
from .table import Table

_STRUCTURED = (
    "response_format",
    "structured_outputs",
    "guided_json",
    "guided_regex",
    "guided_grammar",
    "grammar",
)


def constraint_table(summary: Summary) -> Table | None:
    """What free and constrained requests did apart; None where all are free, or none can be constrained."""
    run = summary.run
    if run.plan.run.mode is Mode.PROMPTED:
        return None
    held = {sample.id: constraint_of(sample) for block in run.blocks() for sample in block.read().samples}
    if set(held.values()) == {"auto"}:
        return None
    counted = [
        churn_by_category((held[finding.id], finding.transition) for finding in comparison.findings)
        for comparison in summary.comparisons
    ]
    rows = tuple(
        (kind, *(f"{one[kind].regressions} / {one[kind].fixes} of {one[kind].compared}" for one in counted))
        for kind in sorted(set(held.values()))
    )
    header = ("tool_choice", *(comparison.candidate for comparison in summary.comparisons))
    return Table(
        "By constraint: regressions / fixes of the pairs compared",
        header,
        rows,
        frozenset(range(1, len(header))),
    )


def constraint_of(sample: Sample) -> str:
    """Say how a request holds the model to a form: its tool choice, and structured output beside it."""
    choice = sample.tool_choice if isinstance(sample.tool_choice, str) else "named function"
    is_structured = any(sample.extra_body.get(name) is not None for name in _STRUCTURED)
    return f"{choice}, structured output" if is_structured else choice
