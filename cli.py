"""The command line: each command reads, computes, writes, and returns an exit code."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .cli_tasks import Categories, SampleIds, split_ids, tasks_app
from .errors import UserError

if TYPE_CHECKING:
    from .evals.plan import Plan
    from .evals.summary import Summary

app = typer.Typer(
    name="draftproof",
    help="Does turning on speculative decoding break my tool calls, and if so, how?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="Exit codes: 0 pass, 1 regression, 2 usage or bad input, 3 inconclusive, 4 void, 130 interrupted.",
)
app.add_typer(tasks_app, name="tasks")

Config = Annotated[Path | None, typer.Argument(help="Plan in TOML; without it the flags are the plan.")]
Run = Annotated[Path, typer.Argument(help="A run directory.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no report.")]


def main() -> None:
    """Run the command line; the one place where an error becomes an exit code."""
    try:
        app()
    except UserError as error:
        typer.echo(f"error: {error}", err=True)
        raise SystemExit(error.exit_code) from None


def version_line(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        from . import __version__

        typer.echo(f"draftproof {__version__}")
        raise typer.Exit


@app.callback()
def front_door(
    _version: Annotated[
        bool, typer.Option("--version", callback=version_line, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Replay tool calls with speculation off and on, and say of each that broke why."""


@app.command()
def demo(
    limit: Annotated[int, typer.Option(min=1, help="Samples to ask.")] = 24,
    out: Annotated[Path, typer.Option(help="Run directory.")] = Path("runs/demo"),
    model: Annotated[Path | None, typer.Option(help="Another model in GGUF.")] = None,
    quiet: Quiet = False,
) -> None:
    """Compare real llama.cpp servers on this machine: no speculation, n-gram, draft model."""
    from .evals.demo import run_demo
    from .reports.progress import open_progress

    with open_progress(quiet=quiet) as progress:
        run_demo(out, limit=limit, model=model, progress=progress, tell=_tell)
    summary = _judged(out, must_write=True)
    if not quiet:
        _print_report(summary)


@app.command()
def run(
    config: Config = None,
    baseline: Annotated[str | None, typer.Option(help="Base URL of the arm without speculation.")] = None,
    candidate: Annotated[list[str] | None, typer.Option(help="NAME=URL of an arm with it; repeat.")] = None,
    model: Annotated[str | None, typer.Option(help="Model name that is sent.")] = None,
    api_key_env: Annotated[str | None, typer.Option(help="Variable that holds the key.")] = None,
    tasks: Annotated[
        list[str] | None, typer.Option(help="A built-in suite, a benchmark or a file; repeat.")
    ] = None,
    mode: Annotated[str | None, typer.Option(help="prompted or native.")] = None,
    dialect: Annotated[str | None, typer.Option(help="Markup the model writes, such as hermes.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Budget of the first attempt.")] = None,
    doublings: Annotated[int | None, typer.Option(help="How often to double it for cut samples.")] = None,
    temperature: Annotated[float | None, typer.Option(help="Sampling temperature.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of order and sampling.")] = None,
    concurrency: Annotated[int | None, typer.Option(help="Requests in flight per arm.")] = None,
    limit: Annotated[int | None, typer.Option(help="Only N samples, every category in proportion.")] = None,
    category: Categories = None,
    sample_ids: SampleIds = None,
    shots: Annotated[int | None, typer.Option(help="Worked examples before each sample.")] = None,
    system_prompt: Annotated[
        Path | None, typer.Option(help="File with the system prompt of prompted mode; {tools} in it.")
    ] = None,
    redact: Annotated[
        bool | None, typer.Option("--redact", help="Write hashes instead of prompts, values and answers.")
    ] = None,
    arm: Annotated[list[str] | None, typer.Option(help="Ask only this arm; repeat.")] = None,
    out: Annotated[Path | None, typer.Option(help="Run directory; an existing one is resumed.")] = None,
    gate: Annotated[bool, typer.Option("--gate", help="Exit with the gate's code.")] = False,
    quiet: Quiet = False,
) -> None:
    """Ask every arm, journal every answer, judge. Resumes an interrupted run when --out names it."""
    flags: dict[str, object] = {
        key: value
        for key, value in (
            ("tasks", tasks),
            ("mode", mode),
            ("dialect", dialect),
            ("max_tokens", max_tokens),
            ("doublings", doublings),
            ("temperature", temperature),
            ("seed", seed),
            ("concurrency", concurrency),
            ("limit", limit),
            ("categories", category),
            ("sample_ids", split_ids(sample_ids)),
            ("shots", shots),
            ("redact", redact),
            ("system_prompt", None if system_prompt is None else _system_prompt(system_prompt)),
        )
        if value is not None
    }
    plan = _plan(config, baseline, candidate or [], model, api_key_env, flags, out)
    directory = out or _new_directory(config)
    _ask(plan, directory, arm or [], quiet=quiet)
    summary = _judged(directory, must_write=True)
    if not quiet:
        _print_report(summary)
    if gate:
        _leave(summary.decision.exit_code)
    _leave(0 if summary.is_complete else 4)


@app.command()
def report(
    run: Run,
    format: Annotated[  # noqa: A002 - the option's name is the contract
        Literal["terminal", "markdown", "json"], typer.Option("--format", help="What to render.")
    ] = "terminal",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File; standard output without it.")
    ] = None,
) -> None:
    """Grade, attribute and render a run again; asks nothing."""
    summary = _judged(run)
    _write_report(summary, format, output)


@app.command()
def gate(
    run_or_config: Annotated[Path, typer.Argument(help="A run directory (asks nothing), or a plan in TOML.")],
    out: Annotated[Path | None, typer.Option(help="Run directory for a plan.")] = None,
    margin: Annotated[float | None, typer.Option(help="How much worse is still no worse.")] = None,
    alpha: Annotated[float | None, typer.Option(help="Significance level.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Also write a Markdown report.")] = None,
    quiet: Quiet = False,
) -> None:
    """Decide: exit 0 pass, 1 regression, 3 inconclusive, 4 void."""
    directory = run_or_config
    if not run_or_config.is_dir():
        plan = _plan(run_or_config, None, [], None, None, {}, out)
        directory = out or _new_directory(run_or_config)
        _ask(plan, directory, [], quiet=quiet)
    summary = _judged(directory, margin=margin, alpha=alpha)
    if not quiet:
        _print_report(summary)
    if markdown is not None:
        _write_report(summary, "markdown", markdown)
    _leave(summary.decision.exit_code)


@app.command()
def show(run: Run, sample_id: Annotated[str, typer.Argument(metavar="ID", help="A sample's id.")]) -> None:
    """Take one sample apart: outputs, calls, defects, first difference, every attempt."""
    from .evals.record import read_run
    from .evals.summary import summarise
    from .reports.sample import render_sample

    text = render_sample(summarise(read_run(run)), sample_id)
    if text is None:
        raise UserError(
            f"{run}: no sample has the id {sample_id!r}", tip=f"ids stand in {run / 'samples.jsonl'}"
        )
    typer.echo(text, nl=False)


@app.command()
def parse(
    file: Annotated[Path, typer.Argument(help="A model's raw text; - is standard input.")] = Path("-"),
    dialect: Annotated[str, typer.Option(help="Markup to read, or auto.")] = "auto",
    tools: Annotated[Path | None, typer.Option(help="JSON list of OpenAI tools to check against.")] = None,
    starts_in_reasoning: Annotated[
        bool, typer.Option("--starts-in-reasoning", help="The prompt ended with the opening of thinking.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Read a model's raw text strictly: calls, defects, notes."""
    from .reports.parse import parse_report

    text = parse_report(
        file,
        dialect=dialect,
        tools=tools,
        starts_in_reasoning=starts_in_reasoning,
        as_json=json,
        tell=_tell,
    )
    typer.echo(text, nl=False)


def _plan(
    config: Path | None,
    baseline: str | None,
    candidates: list[str],
    model: str | None,
    api_key_env: str | None,
    flags: dict[str, object],
    out: Path | None,
) -> "Plan":
    """The plan from a file, from flags, or from the run directory that is resumed."""
    from .evals.plan import build_plan, plan_from_flags, read_plan
    from .evals.record import read_run_file

    if config is not None:
        if baseline or candidates or model or api_key_env:
            raise UserError(
                "the config file has the arms; expected no --baseline, --candidate, --model or --api-key-env"
            )
        return read_plan(config, flags)
    if baseline is None and out is not None and (out / "run.json").exists():
        plan = read_run_file(out).plan
        raw = {**plan.model_dump(), "run": {**plan.run.model_dump(), **flags}}
        return build_plan(raw, source="command line")
    if baseline is None or not candidates or model is None:
        raise UserError(
            "nothing to ask; expected a config file, or --baseline, --candidate, --model and --tasks",
            tip="`draftproof demo` needs none of them",
        )
    return plan_from_flags(
        baseline=baseline, candidates=candidates, model=model, api_key_env=api_key_env, run=flags
    )


def _system_prompt(file: Path) -> str:
    from .evals.prompt import read_system_prompt

    return read_system_prompt(file)


def _new_directory(config: Path | None) -> Path:
    from datetime import UTC, datetime

    name = "run" if config is None else config.stem
    return Path("runs") / f"{name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"


def _ask(plan: "Plan", directory: Path, arms: list[str], *, quiet: bool) -> None:
    from .evals.session import ask_plan
    from .reports.progress import open_progress

    with open_progress(quiet=quiet) as progress:
        ask_plan(plan, directory, progress=progress, tell=_tell, arms=arms)


def _judged(
    directory: Path, *, margin: float | None = None, alpha: float | None = None, must_write: bool = False
) -> "Summary":
    """Judge a run and write its derived files; another margin or alpha is for this time only.

    A directory that cannot be written (somebody else's, an archive) is judged all the same.
    """
    from .evals.record import read_run
    from .evals.summary import summarise, write_derived

    record = read_run(directory)
    if margin is None and alpha is None:
        summary = summarise(record)
        try:
            write_derived(directory, summary)
        except UserError as error:
            if must_write:
                raise
            _tell(f"note: {error.what}; the report is made all the same")
        return summary
    from .evals.plan import build_gate

    given = {key: value for key, value in (("margin", margin), ("alpha", alpha)) if value is not None}
    return summarise(record, gate=build_gate({**record.plan.gate.model_dump(), **given}))


def _print_report(summary: "Summary") -> None:
    import shutil
    import sys

    from .reports.terminal import render_terminal

    width = shutil.get_terminal_size((100, 24)).columns
    typer.echo(render_terminal(summary, width=width, color=_has_color(sys.stdout.isatty())), nl=False)


def _has_color(is_terminal: bool) -> bool:
    """Colour at a terminal, unless NO_COLOR is set (no-color.org)."""
    import os

    return is_terminal and not os.environ.get("NO_COLOR")


def _write_report(summary: "Summary", kind: str, output: Path | None) -> None:
    from .evals.journal import write_text
    from .reports.machine import render_json
    from .reports.markdown import render_markdown
    from .reports.terminal import render_terminal

    match kind:
        case "markdown":
            text = render_markdown(summary)
        case "json":
            text = render_json(summary)
        case _ if output is None:
            _print_report(summary)
            return
        case _:
            text = render_terminal(summary)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
        typer.echo(f"wrote {output}", err=True)


def _tell(sentence: str) -> None:
    typer.echo(sentence, err=True)


def _leave(code: int) -> None:
    if code:
        raise typer.Exit(code)
