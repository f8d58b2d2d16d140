"""The demo: real llama.cpp servers on this machine: no speculation, n-gram, a draft model."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from ..plan import Plan, build_plan
from ..runs.record import read_run
from ..runs.run_file import read_run_file
from ..servers.embedded import EmbeddedServer, Speculation, start_embedded
from ..servers.model_file import fetch_default_model
from .rounds import due
from .runner import Progress
from .session import ask_plan

ARMS = {
    "baseline": Speculation.NONE,
    "ngram": Speculation.NGRAM,
    "draft": Speculation.DRAFT,
}

# Between the short calls of builtin:starter (37 to 43 tokens) and its long ones (60 to 86): these are cut,
# and twice as much finishes them.
MAX_TOKENS = 44


def run_demo(
    directory: Path,
    *,
    limit: int,
    model: Path | None,
    progress: Progress,
    tell: Callable[[str], None],
) -> None:
    """Start the servers, ask them in turn (side by side they slow each other), stop them.

    Args:
        directory: The run directory; a complete one is left as it is.
        limit: How many samples of builtin:starter to ask.
        model: A GGUF file; None for the small default model, fetched once.
        progress: Told of each round and attempt.
        tell: Prints a sentence to the user.

    Raises:
        UserError: The model cannot be had, a server does not start, or the directory holds another run.
    """
    if _is_done(directory, limit):
        tell(f"{directory} is complete: nothing to ask (give another --out to ask again)")
        return
    file = model or fetch_default_model(tell)
    with ExitStack() as stack:
        servers: dict[str, EmbeddedServer] = {}
        for name, speculation in ARMS.items():
            tell(f"starting llama.cpp for arm {name} (speculation: {speculation.value})")
            log = directory / "servers" / f"{name}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            servers[name] = stack.enter_context(start_embedded(file.stem, file, speculation, log=log))
        ask_plan(_plan(servers, file.stem, limit), directory, progress=progress, tell=tell)


def _plan(servers: dict[str, EmbeddedServer], model: str, limit: int) -> Plan:
    arms = [
        {
            "name": name,
            "base_url": server.base_url,
            "model": model,
            "baseline": server.speculation is Speculation.NONE,
            "speculation": server.speculation.value,
        }
        for name, server in servers.items()
    ]
    run = {
        "tasks": ["builtin:starter"],
        "max_tokens": MAX_TOKENS,
        "concurrency": 1,
        "in_turn": True,
        "limit": limit,
        "timeout": 120,
    }
    return build_plan({"run": run, "arms": arms}, source="demo")


def _is_done(directory: Path, limit: int) -> bool:
    if not (directory / "run.json").exists() or read_run_file(directory).plan.run.limit != limit:
        return False
    return not due(read_run(directory))
