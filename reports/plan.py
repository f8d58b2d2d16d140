"""What `draftproof plan` prints: the requests of a run, and what its gate could see."""

import io

from rich.console import Console
from rich.text import Text

from ..evals.attempt import Stage
from ..evals.summing_up.design import Design, StageCost
from .contents import Table
from .terminal import print_table


def render_plan(design: Design, *, width: int = 100) -> str:
    """The design as text of that width (characters)."""
    console = Console(
        file=io.StringIO(), width=width, force_terminal=False, no_color=True, highlight=False, emoji=False
    )
    gate = design.gate
    console.print(
        Text(
            f"{design.samples:,} samples, arms {', '.join(design.arms)}; margin {gate.margin:.1%}, "
            f"alpha {gate.alpha:g}"
        )
    )
    for table in (_requests(design), _chances(design)):
        console.print()
        console.print(Text(table.title))
        print_table(console, table)
    console.print()
    for sentence in _sentences(design):
        console.print(Text(sentence))
    file = console.file
    return file.getvalue() if isinstance(file, io.StringIO) else ""


def hopeless_sentence(design: Design) -> str:
    """Why a design is not worth its requests."""
    harmless, broken = design.chances[0.0], design.chances[max(design.chances)]
    return (
        f"this design can hardly pass or detect anything: {design.pairs:,} pairs at margin "
        f"{design.gate.margin:.1%} pass a harmless candidate in {harmless.passing:.0%} of runs, and call one "
        f"that breaks {max(design.chances):.0%} of its calls a regression in {broken.regression:.0%} "
        f"(churn {design.expectation.churn:.1%}, {design.expectation.churn_source})"
    )


def _requests(design: Design) -> Table:
    most = sum(cost.most for cost in design.stages)
    tokens = sum(cost.most_tokens for cost in design.stages)
    rows = [_request_row(cost) for cost in design.stages]
    rows.append(("all", f"{sum(cost.least for cost in design.stages):,} to {most:,}", f"{tokens:,}"))
    return Table(
        "It asks",
        ("stage", "requests", "answer tokens at most"),
        tuple(rows),
        frozenset((1, 2)),
        "doubled: whatever is cut in any arm; confirm: every regression that is not the cap's",
    )


def _request_row(cost: StageCost) -> tuple[str, ...]:
    is_sure = cost.stage in (Stage.FIRST, Stage.CONTROL)
    return (cost.stage.value, f"{cost.most:,}" if is_sure else f"0 to {cost.most:,}", f"{cost.most_tokens:,}")


def _chances(design: Design) -> Table:
    expectation = design.expectation
    return Table(
        f"It says, with {design.pairs:,} informative pairs and churn {expectation.churn:.1%} "
        f"({expectation.churn_source})",
        ("candidate breaks", "regression", "inconclusive", "pass"),
        tuple(
            (
                f"{net:.0%} net" if net else "nothing",
                f"{chances.regression:.1%}",
                f"{chances.inconclusive:.1%}",
                f"{chances.passing:.1%}",
            )
            for net, chances in design.chances.items()
        ),
        frozenset((1, 2, 3)),
        "exact chances, before endpoint failures and new broken syntax, which only make a pass rarer",
    )


def _sentences(design: Design) -> list[str]:
    sentences = [
        f"A harmless candidate passes in 80% of runs from about {design.needed:,} informative pairs on."
    ]
    if design.is_sequential:
        sentences.append("until_decided: a candidate that is surely worse is asked no further than that.")
    if design.most_seconds is not None:
        speed = design.expectation.tokens_per_second
        likely = (
            ""
            if design.likely_seconds is None
            else f"; first and control at their usual length {_duration(design.likely_seconds)}"
        )
        sentences.append(
            f"Time: {_duration(design.most_seconds)} at most, at {speed:.0f} tokens/s a request{likely}."
        )
    if design.is_hopeless:
        sentence = hopeless_sentence(design)
        sentences.append(f"{sentence[0].upper()}{sentence[1:]}.")
    return sentences


def _duration(seconds: float) -> str:
    """Seconds as people say them."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "under a minute"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
