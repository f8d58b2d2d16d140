"""Requests a second and CPU a request of a whole run, beside bare loops that send the same bodies.

    python benchmarks/asking.py [--requests 1000] [--concurrency 1 16 64 256] [--verifier "PYTHON SCRIPT"]

The server answers at once, so every microsecond is the client's. draftproof's side is `run` as it is: samples
loaded and checked, bodies built, answers read, judged and journalled line by line, repeats and progress on.
The bare loops keep nothing; the barest, on sockets, shows that the server is not what is measured.

`--verifier` adds a public verifier of tool calls, as it is: the script `tool_calls_eval.py` of the repository
MoonshotAI/K2-Vendor-Verifier, with a Python that has what it imports. It writes each answer to a file too.
"""

import argparse
import asyncio
import json
import os
import resource
import shlex
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from made_run import BUDGET, DIALECT, made_plan, made_samples, write_suite
from measured import Row, child, print_table
from quick_server import STREAMED, WHOLE, quick_servers

Send = Callable[[dict[str, Any]], Awaitable[object]]


def bodies(count: int, *, stream: bool) -> list[dict[str, Any]]:
    from draftproof.evals.asking.prompt import Prompts
    from draftproof.evals.attempt import Ask, Stage

    plan = made_plan()
    samples = {sample.id: sample for sample in made_samples(count)}
    prompts = Prompts(samples, plan.run, DIALECT)
    return [
        prompts.body(Ask(one, "baseline", plan.run.mode, stream, Stage.FIRST, BUDGET), plan.arm("baseline"))
        for one in samples
    ]


async def _loop(send: Send, waiting: Sequence[dict[str, Any]], concurrency: int) -> None:
    queue = iter(waiting)

    async def work() -> None:
        for body in queue:
            await send(body)

    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(work())


async def bare_openai(url: str, waiting: list[dict[str, Any]], concurrency: int) -> None:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        async def send(body: dict[str, Any]) -> None:
            answer = await client.chat.completions.create(**body)
            if body["stream"]:
                async for _ in answer:
                    pass

        await _loop(send, waiting, concurrency)


async def bare_httpx(url: str, waiting: list[dict[str, Any]], concurrency: int) -> None:
    import httpx

    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    async with httpx.AsyncClient(limits=limits) as client:

        async def send(body: dict[str, Any]) -> None:
            (await client.post(f"{url}/chat/completions", json=body)).raise_for_status()

        await _loop(send, waiting, concurrency)


async def bare_aiohttp(url: str, waiting: list[dict[str, Any]], concurrency: int) -> None:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector, raise_for_status=True) as session:

        async def send(body: dict[str, Any]) -> None:
            async with session.post(f"{url}/chat/completions", json=body) as answer:
                await answer.read()

        await _loop(send, waiting, concurrency)


async def bare_sockets(url: str, waiting: list[dict[str, Any]], concurrency: int) -> None:
    """The same bytes each time, and no look at what comes but for its end: how fast the server is."""
    parts = urlsplit(url)
    body = json.dumps(waiting[0]).encode()
    head = f"POST {parts.path}/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    end = STREAMED[-40:] if waiting[0]["stream"] else WHOLE[-40:]
    request, left = head.encode() + body, iter(waiting)

    async def work() -> None:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        for _ in left:
            writer.write(request)
            await reader.readuntil(end)
        writer.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(work())


def verifier(command: str, url: str, count: int, concurrency: int, *, stream: bool) -> dict[str, float]:
    """A public verifier's script: what some requests more take of it, so that its start is not measured."""
    few, most = (_verify(command, url, each, concurrency, stream=stream) for each in (4, count))
    wall, cpu = most[0] - few[0], most[1] - few[1]
    return {"per_second": (count - 4) / wall, "cpu_ms": cpu / (count - 4) * 1e3}


def _verify(command: str, url: str, count: int, concurrency: int, *, stream: bool) -> tuple[float, float]:
    """Seconds of the script, by the clock and of CPU."""
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder) / "requests.jsonl"
        # What it asks for in a stream it puts there itself.
        waiting = [
            {**body, "stream_options": {}} if stream else body for body in bodies(count, stream=stream)
        ]
        asked.write_text("".join(json.dumps(body) + "\n" for body in waiting))
        answers = Path(folder) / "answers.jsonl"
        options = ["--model", "made", "--base-url", url, "--concurrency", concurrency, "--output", answers]
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(
            [*shlex.split(command), *map(str, (asked, *options, "--summary", Path(folder) / "summary.json"))],
            env={**os.environ, "OPENAI_API_KEY": "none"},
            stderr=subprocess.DEVNULL,
            check=True,
        )
        wall, used = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        answered = [json.loads(line) for line in answers.read_text().splitlines()]
        assert [one["status"] for one in answered] == ["success"] * count, answered[:1]
    return wall, used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime


BARE = {"openai": bare_openai, "httpx": bare_httpx, "aiohttp": bare_aiohttp, "sockets": bare_sockets}


def own(
    url: str, suite: Path, folder: Path, concurrency: int, *, stream: bool, ray: str | None = None
) -> None:
    """A run of two arms, of which half the requests go to each; sent by a Ray cluster's nodes, if given."""
    from draftproof.evals.asking.session import ask_plan
    from draftproof.evals.plan import build_plan
    from draftproof.reports.progress import PlainProgress

    arms = [{"name": name, "base_url": url, "model": "made"} for name in ("baseline", "mtp")]
    settings = {
        "tasks": [str(suite)],
        "max_tokens": BUDGET,
        "control": False,
        "confirm": 0,
        "margins": False,
        "stream": stream,
        # Per arm, and both are asked at once.
        "concurrency": max(1, concurrency // 2),
        "in_turn": concurrency == 1,
    }
    plan = build_plan({"run": settings, "arms": arms}, source="benchmark")
    ask_plan(plan, folder / f"run-{suite.stem}", progress=PlainProgress(), tell=lambda _: None, ray=ray)


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measured(side: str, url: str, count: int, concurrency: int, *, stream: bool) -> dict[str, float]:
    """One side in this process, warmed up first: neither imports nor making the samples is measured."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if side == "draftproof":
            few, all_of_them = (write_suite(folder / f"{n}.jsonl", n // 2) for n in (4, count))
            own(url, few, folder, 1, stream=stream)
            before, started = cpu_seconds(), time.perf_counter()
            own(url, all_of_them, folder, concurrency, stream=stream)
        else:
            waiting = bodies(count, stream=stream)
            asyncio.run(BARE[side](url, waiting[:4], 1))
            before, started = cpu_seconds(), time.perf_counter()
            asyncio.run(BARE[side](url, waiting, concurrency))
        wall, cpu = time.perf_counter() - started, cpu_seconds() - before
    return {"per_second": count / wall, "cpu_ms": cpu / count * 1e3}


def cpu_of(side: str, url: str, count: int, concurrency: int, *, stream: bool) -> float:
    """Milliseconds a request of one side, in a process of its own."""
    return child("asking.py", "--child", side, url, count, concurrency, int(stream))["cpu_ms"]


def rows(requests: int, concurrencies: Sequence[int], script: str | None = None) -> Iterator[Row]:
    sides = ["draftproof", *(name for name in BARE if name == "sockets" or find_spec(name))]
    with quick_servers() as url:
        for stream in (False, True):
            for concurrency in concurrencies:
                found = {
                    side: child("asking.py", "--child", side, url, requests, concurrency, int(stream))
                    for side in sides
                }
                if script is not None:
                    found["verifier"] = verifier(script, url, requests, concurrency, stream=stream)
                own_side = found.pop("draftproof")
                for name, bare in found.items():
                    label = name if name == "verifier" else f"bare {name}"
                    what = f"ask, {concurrency} in flight, {'streamed' if stream else 'whole'}"
                    yield Row(
                        what,
                        f"{own_side['per_second']:.0f}/s, {own_side['cpu_ms']:.2f} ms CPU",
                        f"{label} {bare['per_second']:.0f}/s, {bare['cpu_ms']:.2f} ms CPU",
                        own_side["cpu_ms"] / bare["cpu_ms"],
                    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 16, 64, 256])
    parser.add_argument("--verifier", help="a Python and the script that it runs")
    parser.add_argument("--child", nargs=5, metavar=("SIDE", "URL", "REQUESTS", "CONCURRENCY", "STREAM"))
    options = parser.parse_args()
    if options.child is None:
        print_table(rows(options.requests, options.concurrency, options.verifier))
        return
    side, url, count, concurrency, stream = options.child
    print(json.dumps(measured(side, url, int(count), int(concurrency), stream=stream == "1")))


if __name__ == "__main__":
    main()
