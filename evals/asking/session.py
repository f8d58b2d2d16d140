"""One session of asking: from a plan to a run directory that is complete, or as far as it came."""

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

from ...errors import UserError, first_error
from ...parsers.dialects import DIALECTS
from ...tasks.suite import Suite, load_suites
from ..attempt import Ask, Stage
from ..cluster.crew import Cluster
from ..cluster.ray_cluster import RayCluster
from ..plan import Plan, RunSection
from ..runs.journal import RunLock
from ..runs.new_run import create_run, refuse_foreign
from ..runs.redaction import Redaction
from ..runs.shard import Shard
from ..stopping import Stopping
from .prompt import Prompts
from .rounds import due
from .runner import Progress, ask_all

INTERRUPTED = 130


def ask_plan(
    plan: Plan,
    directory: Path,
    *,
    progress: Progress,
    tell: Callable[[str], None],
    arms: Sequence[str] = (),
    shard: Shard | None = None,
    ray: str | None = None,
) -> None:
    """Ask what is due in `directory`, which is created, or resumed if it holds a run of the same plan.

    The first Ctrl-C sends nothing new and waits for the answers in flight, which are paid for; the second
    leaves them.

    Args:
        plan: What to ask of whom.
        directory: The run directory.
        progress: Told of each round and attempt.
        tell: Prints a sentence to the user.
        arms: Names of the only arms to ask; empty for all.
        shard: The share of the samples to ask; None for all of them, or those that the directory has.
        ray: Address of a Ray cluster whose nodes send the requests; None to send from here.

    Raises:
        UserError: Bad input, a refused resume, a dead server or cluster, or (exit code 130) an interrupt.
    """
    for name in arms:
        plan.arm(name)
    if shard is not None and plan.run.until_decided:
        raise UserError(
            "run.until_decided: where asking stops depends on all samples in one order, and a shard sees "
            "only its own; expected no --shard beside it"
        )
    suite = load_planned(plan.run)
    for note in suite.notes:
        tell(f"note: {note}")
    _check_askable(plan, suite)
    redaction = Redaction(plan, suite.samples) if plan.run.redact else None
    refuse_foreign(directory)
    with nullcontext() if ray is None else RayCluster(ray, plan) as cluster, RunLock(directory):
        create_run(directory, plan, suite, shard)
        del suite  # asked are the samples of the directory: both would be half of the memory of a session
        stopping = Stopping()
        try:
            asyncio.run(_ask(directory, progress, tell, stopping, arms, redaction, cluster))
        except* UserError as group:
            # Arms are asked side by side: several may have failed for one reason; the first says it.
            raise first_error(group) from None
        except* KeyboardInterrupt:
            stopping.set()
    if stopping.is_set:
        raise UserError(
            "interrupted; every answer that came is kept",
            tip=f"`draftproof run --out {directory}` goes on from here",
            exit_code=INTERRUPTED,
        )


def load_planned(settings: RunSection) -> Suite:
    """Load the suites of a plan, chosen, ordered and prepared as its `[run]` says."""
    return load_suites(
        settings.tasks,
        limit=settings.limit,
        seed=settings.seed,
        categories=settings.categories,
        sample_ids=settings.sample_ids,
        shots=settings.shots,
    )


def _check_askable(plan: Plan, suite: Suite) -> None:
    """Build every request once: a sample that cannot be asked is found before anything is paid for."""
    samples = {sample.id: sample for sample in suite.samples}
    prompts = Prompts(samples, plan.run, DIALECTS[plan.run.dialect])
    for sample in suite.samples:
        ask = Ask(
            sample.id,
            plan.baseline.name,
            plan.run.mode,
            plan.run.is_streamed,
            Stage.FIRST,
            plan.run.max_tokens,
        )
        prompts.body(ask, plan.baseline)


async def _ask(
    directory: Path,
    progress: Progress,
    tell: Callable[[str], None],
    stopping: Stopping,
    arms: Sequence[str],
    redaction: Redaction | None,
    cluster: Cluster | None,
) -> None:
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()

    def interrupt() -> None:
        if stopping.is_set and task is not None:
            task.cancel()
            return
        stopping.set()
        tell("stopping: waiting for the answers in flight (Ctrl-C again to leave them)")

    loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        record = await ask_all(
            directory,
            progress=progress,
            stopping=stopping,
            tell=tell,
            only_arms=arms,
            redaction=redaction,
            cluster=cluster,
        )
        if not stopping.is_set and (left := due(record)):
            tell(_still_due(left, directory))
    except asyncio.CancelledError:
        if not stopping.is_set:
            raise
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _still_due(asks: Sequence[Ask], directory: Path) -> str:
    counts = Counter(ask.arm for ask in asks)
    arms = ", ".join(f"{arm} {count}" for arm, count in counts.items())
    return f"still without an answer: {arms}; `draftproof run --out {directory}` goes on"
