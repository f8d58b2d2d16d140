"""Commands that ask servers: `demo`, `run` and `gate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .cli_github import tell_github
from .cli_plan import refuse_hopeless
from .cli_report import judged, leave, print_report, tell, write_report
from .cli_tasks import Categories, SampleIds, split_ids
from .errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .evals.plan import Plan
    from .evals.summing_up.summary import Summary

Config = Annotated[Path | None, typer.Argument(help="Plan in TOML; without it the flags are the plan.")]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no report.")]


def demo(
    limit: Annotated[int, typer.Option(min=1, help="Samples to ask.")] = 24,
    out: Annotated[Path, typer.Option(help="Run directory.")] = Path("runs/demo"),
    model: Annotated[Path | None, typer.Option(help="Another model in GGUF.")] = None,
    quiet: Quiet = False,
) -> None:
    """Compare real llama.cpp servers here, speculation off and on.

    Three of them: without speculation, with n-gram lookup, with a draft model.
    """
    from .evals.asking.demo import run_demo
    from .reports.progress import open_progress

    with open_progress(quiet=quiet) as progress:
        run_demo(out, limit=limit, model=model, progress=progress, tell=tell)
    summary = judged(out, must_write=True)
    if not quiet:
        print_report(summary)


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
    until_decided: Annotated[
        bool | None,
        typer.Option("--until-decided", help="Ask a candidate no more once it is surely a regression."),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(help="Let arms differ in context, prompt, model or speculation; repeat."),
    ] = None,
    arm: Annotated[list[str] | None, typer.Option(help="Ask only this arm; repeat.")] = None,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Ask share I of N, the same split on every machine.")
    ] = None,
    ray: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Send from the nodes of this Ray cluster.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Run directory, or its URL (s3://…); an existing one is resumed.")
    ] = None,
    gate: Annotated[bool, typer.Option("--gate", help="Exit with the gate's code.")] = False,
    quiet: Quiet = False,
) -> None:
    """Ask every arm, journal every answer, judge. Resumes an interrupted run when --out names it."""
    from .evals.runs.mirror import open_directory

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
            ("until_decided", until_decided),
            ("allow", allow),
            ("system_prompt", None if system_prompt is None else _system_prompt(system_prompt)),
        )
        if value is not None
    }
    codes: list[int] = []
    with open_directory(out or str(_new_directory(config)), tell) as directory:
        resumed = directory if out is not None else None
        plans = _plans(config, baseline, candidate or [], model, api_key_env, flags, resumed)
        if arm and plans[0].run.until_decided:
            raise UserError("--until-decided compares the arms on the way; expected no --arm beside it")
        if len(plans) > 1 and out is not None and "://" in out:
            raise UserError(
                f"--out {out}: a URL holds one run; expected one concurrency and isolate, or a folder"
            )
        for plan, place in _runs(plans, directory):
            _ask(plan, place, arm or [], quiet=quiet, shard=shard, ray=ray)
            summary = judged(place, must_write=True)
            if not quiet:
                print_report(summary)
            codes.append(summary.decision.exit_code if gate else 0 if summary.is_complete else 4)
    leave(_worst(codes))


def gate(
    run_or_config: Annotated[Path, typer.Argument(help="A run directory (asks nothing), or a plan in TOML.")],
    out: Annotated[Path | None, typer.Option(help="Run directory for a plan.")] = None,
    margin: Annotated[float | None, typer.Option(help="How much worse is still no worse.")] = None,
    alpha: Annotated[float | None, typer.Option(help="Significance level.")] = None,
    baseline: Annotated[str | None, typer.Option(help="Another arm to compare all others with.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Ask even where hardly anything can come out.")
    ] = False,
    markdown: Annotated[Path | None, typer.Option(help="Also write a Markdown report.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit XML.")] = None,
    against: Annotated[
        Path | None, typer.Option(help="An accepted run, or its summary.json: only what is new decides.")
    ] = None,
    allow_inconclusive: Annotated[
        bool,
        typer.Option("--allow-inconclusive", help="Exit 0 for inconclusive, with a warning."),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Decide: exit 0 pass, 1 regression, 3 inconclusive, 4 void."""
    from .evals.conditions import runs_in
    from .evals.summing_up.history import judge_against, read_accepted, refuse_unlike

    accepted = None if against is None else read_accepted(against)
    if baseline is not None and accepted is not None:
        raise UserError(
            "--against knows what the run's own baseline showed; expected no --baseline beside it"
        )
    directories = runs_in(run_or_config)
    if not run_or_config.is_dir():
        runs = _runs(
            _plans(run_or_config, None, [], None, None, {}, out), out or _new_directory(run_or_config)
        )
        if accepted is not None:
            refuse_unlike(accepted, runs[0][0])
        if not force:
            refuse_hopeless(runs[0][0])
        for plan, directory in runs:
            _ask(plan, directory, [], quiet=quiet)
        directories = [directory for _, directory in runs]
    codes: list[int] = []
    for directory in directories:
        summary = judged(directory, margin=margin, alpha=alpha, baseline=baseline)
        if accepted is not None:
            summary = judge_against(summary, accepted)
        if not quiet:
            print_report(summary)
        name = "" if len(directories) == 1 else directory.name
        _write_files(summary, {"markdown": markdown, "junit": junit}, name, allow=allow_inconclusive)
        tell_github(summary, allow_inconclusive=allow_inconclusive)
        codes.append(_exit_code(summary, allow_inconclusive=allow_inconclusive))
    leave(_worst(codes))


def _write_files(summary: "Summary", files: dict[str, Path | None], name: str, *, allow: bool) -> None:
    """Write the reports that were asked for; of several runs each has files of its own, named after it."""
    for kind, file in files.items():
        if file is not None:
            path = file.with_stem(f"{file.stem}-{name}") if name else file
            write_report(summary, kind, path, allow_inconclusive=allow)


def _runs(plans: "Sequence[Plan]", directory: Path) -> "list[tuple[Plan, Path]]":
    """Each plan with its run directory: those of several conditions stand in one folder."""
    from .evals.conditions import folder_names

    names = folder_names([(plan.run.concurrency, plan.run.isolate) for plan in plans])
    return [(plan, directory / name) for plan, name in zip(plans, names, strict=True)]


def _worst(codes: list[int]) -> int:
    """The exit code of several runs: regression, else void, else inconclusive, else pass."""
    return next((code for code in (1, 4, 3) if code in codes), 0)


def _exit_code(summary: "Summary", *, allow_inconclusive: bool) -> int:
    """The decision's exit code; an inconclusive run may be let through, and then it is said aloud."""
    from .evals.decision.gate import Decision

    if allow_inconclusive and summary.decision is Decision.INCONCLUSIVE:
        for comparison, ruling in zip(summary.comparisons, summary.rulings, strict=True):
            if ruling.decision is Decision.INCONCLUSIVE:
                reasons = "; ".join(ruling.reasons)
                tell(
                    f"warning: inconclusive, let through by --allow-inconclusive: {comparison.candidate}: "
                    f"{reasons}"
                )
        return 0
    return summary.decision.exit_code


def _plans(
    config: Path | None,
    baseline: str | None,
    candidates: list[str],
    model: str | None,
    api_key_env: str | None,
    flags: dict[str, object],
    out: Path | None,
) -> "tuple[Plan, ...]":
    """The plan, one for each condition: from a file, from flags, or from the run that is resumed."""
    from .evals.plan import build_plan, plan_from_flags, read_plans
    from .evals.runs.run_file import read_run_file

    if config is not None:
        if baseline or candidates or model or api_key_env:
            raise UserError(
                "the config file has the arms; expected no --baseline, --candidate, --model or --api-key-env"
            )
        return read_plans(config, flags)
    if baseline is None and out is not None and (out / "run.json").exists():
        plan = read_run_file(out).plan
        raw = {**plan.model_dump(), "run": {**plan.run.model_dump(), **flags}}
        return (build_plan(raw, source="command line"),)
    if baseline is None or not candidates or model is None:
        raise UserError(
            "nothing to ask; expected a config file, or --baseline, --candidate, --model and --tasks",
            tip="`draftproof demo` needs none of them",
        )
    return (
        plan_from_flags(
            baseline=baseline, candidates=candidates, model=model, api_key_env=api_key_env, run=flags
        ),
    )


def _system_prompt(file: Path) -> str:
    from .evals.asking.prompt import read_system_prompt

    return read_system_prompt(file)


def _new_directory(config: Path | None) -> Path:
    from datetime import UTC, datetime

    name = "run" if config is None else config.stem
    return Path("runs") / f"{name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"


def _ask(
    plan: "Plan",
    directory: Path,
    arms: list[str],
    *,
    quiet: bool,
    shard: str | None = None,
    ray: str | None = None,
) -> None:
    from .evals.asking.session import ask_plan
    from .evals.runs.shard import read_shard
    from .reports.progress import open_progress

    share = None if shard is None else read_shard(shard)
    with open_progress(quiet=quiet) as progress:
        ask_plan(plan, directory, progress=progress, tell=tell, arms=arms, shard=share, ray=ray)
