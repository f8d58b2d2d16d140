"""How clear a server's choice was where it left its own answer: what the limit of a near tie rests on.

    python benchmarks/near_ties.py URL --model MODEL [--together 8] [--tasks SPEC …] [--max-tokens 128]

No speculation is needed: every prompt is asked alone, twice, and once among others. Numbers are summed in
another order in a batch, so near-ties flip, and nothing else should. Of each answer that changed, the server
is asked for its margin at the first token that differs (vLLM and llama.cpp tell). What lies at `WIDE_NATS` or
above here would be taken for a fault of speculation, though nothing but a batch caused it.
"""

import argparse
import asyncio
import statistics
from collections.abc import Sequence

from draftproof.evals.asking.margins import measure_margin
from draftproof.evals.asking.prompt import Prompts
from draftproof.evals.attempt import Ask, Attempt, Stage
from draftproof.evals.judging.parting import Parting
from draftproof.evals.plan import Plan, build_plan
from draftproof.evals.runs.divergence import WIDE_NATS, Divergence
from draftproof.evals.servers.endpoint import Endpoint
from draftproof.evals.servers.facts import read_facts
from draftproof.parsers.dialects import DIALECTS
from draftproof.tasks.sample import Sample
from draftproof.tasks.suite import load_suites


def plan_of(options: argparse.Namespace) -> Plan:
    arms = [
        {"name": name, "base_url": options.url, "model": options.model} for name in ("baseline", "together")
    ]
    run = {"tasks": options.tasks, "max_tokens": options.max_tokens, "timeout": 600}
    return build_plan({"run": run, "arms": arms}, source="flags")


async def ask_all(endpoint: Endpoint, plan: Plan, samples: Sequence[Sample], together: int) -> list[Attempt]:
    """Every sample's answer, in order; `together` requests in flight."""
    gate = asyncio.Semaphore(together)
    prompts = Prompts({one.id: one for one in samples}, plan.run, DIALECTS[plan.run.dialect])

    async def one(n: int, sample: Sample) -> Attempt:
        ask = Ask(
            sample.id,
            "baseline",
            plan.run.mode,
            stream=False,
            stage=Stage.FIRST,
            max_tokens=plan.run.max_tokens,
        )
        body = prompts.body(ask, endpoint.arm)
        async with gate:
            return await endpoint.ask(ask, body, n)

    return list(await asyncio.gather(*(one(n, sample) for n, sample in enumerate(samples))))


def partings(left: Sequence[Attempt], right: Sequence[Attempt]) -> list[Parting]:
    return [
        Parting(a.id, "together", a.max_tokens, a.request, a.content or "", b.content or "")
        for a, b in zip(left, right, strict=True)
        if a.succeeded and b.succeeded and a.content != b.content
    ]


def shown(name: str, answers: int, changed: Sequence[Divergence]) -> str:
    margins = sorted(one.margin_nats for one in changed if one.margin_nats is not None)
    said = f"{name}: {len(changed)} of {answers} answers changed"
    if not margins:
        return said
    wide = sum(margin >= WIDE_NATS for margin in margins)
    return (
        f"{said}; margins of {len(margins)} in nats: median {statistics.median(margins):.3f}, "
        f"largest {', '.join(f'{margin:.3f}' for margin in margins[-5:])}; {wide} at {WIDE_NATS:g} or above"
    )


async def measure(options: argparse.Namespace) -> None:
    plan = plan_of(options)
    samples = load_suites(plan.run.tasks, limit=options.limit).samples
    endpoint = Endpoint(plan.baseline, plan.run)
    try:
        endpoint.kind = (await read_facts(endpoint)).kind
        alone = await ask_all(endpoint, plan, samples, 1)
        again = await ask_all(endpoint, plan, samples, 1)
        together = await ask_all(endpoint, plan, samples, options.together)
        for name, others in (("alone again", again), (f"{options.together} together", together)):
            changed = [await measure_margin(endpoint, one) for one in partings(alone, others)]
            print(shown(name, len(samples), changed), flush=True)
            for one in changed:
                print(
                    f"  {one.id}: token {one.token_index}, {one.margin_nats} nats {one.reason or ''}".rstrip()
                )
    finally:
        await endpoint.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url")
    parser.add_argument("--model", required=True)
    parser.add_argument("--tasks", nargs="+", default=["builtin:core", "builtin:speculation"])
    parser.add_argument("--limit", type=int)
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--together", type=int, default=8)
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
