"""The command that asks nobody anything yet: `plan`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .errors import UserError

if TYPE_CHECKING:
    from .evals.plan import Plan


def plan(
    config: Annotated[Path, typer.Argument(help="Plan in TOML.")],
    churn: Annotated[
        float | None, typer.Option(help="Share of pairs that differ without any effect (default 0.05).")
    ] = None,
    like: Annotated[
        Path | None, typer.Option(help="An earlier run: its churn, its answers' length and speed.")
    ] = None,
    tokens_per_second: Annotated[float | None, typer.Option(help="Speed of one request.")] = None,
) -> None:
    """Say what a run will ask and what it could see; asks nothing.

    And how long it will take.
    """
    from dataclasses import replace

    from .evals.asking.session import load_planned
    from .evals.at_rest.open_run import open_run
    from .evals.plan import read_plans
    from .evals.summing_up.design import Expectation, design_run, expect_like
    from .evals.summing_up.summary import summarise
    from .reports.plan import render_plan

    read, *more = read_plans(config, {})
    if more:
        typer.echo(f"{len(more) + 1} conditions: each of them asks what stands here.")
    expectation = Expectation() if like is None else expect_like(summarise(open_run(like)))
    if churn is not None:
        if not 0 < churn <= 0.5:
            raise UserError(f"--churn {churn:g}: expected a share above 0, up to 0.5")
        expectation = replace(expectation, churn=churn, churn_source="as given")
    if tokens_per_second is not None:
        if tokens_per_second <= 0:
            raise UserError(f"--tokens-per-second {tokens_per_second:g}: expected a number above 0")
        expectation = replace(expectation, tokens_per_second=tokens_per_second)
    samples = len(load_planned(read.run).samples)
    typer.echo(render_plan(design_run(read, samples, expectation)), nl=False)


def refuse_hopeless(read: "Plan") -> None:
    """Refuse a plan whose run could hardly pass or detect anything.

    Raises:
        UserError: It could not, at the churn that `plan` assumes.
    """
    from .evals.asking.session import load_planned
    from .evals.summing_up.design import Expectation, design_run
    from .reports.plan import hopeless_sentence

    design = design_run(read, len(load_planned(read.run).samples), Expectation())
    if design.is_hopeless:
        raise UserError(
            hopeless_sentence(design),
            tip=f"take more samples (about {design.needed:,} pass what is harmless in 80% of runs), a wider "
            "[gate] margin, or --force",
        )
