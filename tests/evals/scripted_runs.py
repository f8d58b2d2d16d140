"""Whole runs against scripted servers: a small suite, an impatient plan, and the run directory read back."""

import json
import threading
from collections import Counter
from unittest import mock

from draftproof.evals.asking.session import ask_plan
from draftproof.evals.plan import build_plan
from draftproof.evals.runs.record import read_run
from draftproof.evals.servers import patience
from draftproof.evals.summing_up.derived import derive
from draftproof.reports.progress import SilentProgress

from ..scripted import MODEL, answer

CAP = 100
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a place.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


def sample_line(number, **members):
    return {
        "id": f"s/{number}",
        "messages": [{"role": "user", "content": f"Weather in City{number}?"}],
        "tools": [TOOL],
        "expected": {"calls": [{"name": "get_weather", "arguments": {"city": [f"City{number}"]}}]},
        **members,
    }


def write_suite(path, count=4, **members):
    path.write_text("".join(json.dumps(sample_line(n, **members)) + "\n" for n in range(count)))
    return path


def number_of(request):
    return int(request.body["messages"][-1]["content"].removeprefix("Weather in City").rstrip("?"))


def call_of(city):
    call = {"name": "get_weather", "arguments": {"city": city}}
    return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"


def right(request, **keywords):
    return answer(call_of(f"City{number_of(request)}"), **keywords)


def wrong(_request, **keywords):
    return answer(call_of("Elsewhere"), **keywords)


def cut(request):
    return answer('<tool_call>\n{"name": "get_w', "length", completion_tokens=request.body["max_tokens"])


def raw_plan(suite, servers, **run):
    """The plan as TOML would give it; `servers` are arms by name, scripted servers or URLs."""
    return {
        "run": {
            "tasks": [str(suite)],
            "max_tokens": CAP,
            "control": False,
            "confirm": 0,
            "concurrency": 1,
            "timeout": 5.0,
            "retries": 1,
            **run,
        },
        "arms": [
            {"name": name, "base_url": getattr(server, "base_url", server), "model": MODEL}
            for name, server in servers.items()
        ],
    }


def make_plan(suite, servers, **run):
    return build_plan(raw_plan(suite, servers, **run), source="test")


def ask(plan, directory, arms=(), progress=None):
    """Run one session without long pauses; return the sentences that the user was told."""
    told = []
    with mock.patch.object(patience, "FIRST_PAUSE_SECONDS", 0.001):
        ask_plan(plan, directory, progress=progress or SilentProgress(), tell=told.append, arms=arms)
    return told


def judged(directory):
    """The summary, and the findings as written, without what depends on the clock (nothing does)."""
    summary, problem = derive(read_run(directory))
    if problem is not None:
        raise problem
    return summary, (directory / "findings.jsonl").read_text()


def journal(directory, arm):
    path = directory / "attempts" / f"{arm}.jsonl"
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def keys(rows):
    return [(row["id"], row["stage"], row["max_tokens"], row["attempt"]) for row in rows]


class InFlight:
    """Counts, by arm, the most requests that a script had to answer at once; each waits to meet others."""

    def __init__(self):
        self.most = Counter()
        self._running, self._lock = Counter(), threading.Lock()

    def counted(self, name, script):
        def reply(request):
            with self._lock:
                self._running[name] += 1
                self.most[name] = max(self.most[name], self._running[name])
            threading.Event().wait(0.02)
            with self._lock:
                self._running[name] -= 1
            return script(request)

        return reply
