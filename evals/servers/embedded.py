"""llama.cpp's own HTTP server on this machine, out of the `xllamacpp` wheel: real speculation without a GPU.

Each server is a child process, so that a crash of the engine is an endpoint's fault and not this program's.
This module is both sides: `start_embedded` for the parent, and `python -m draftproof.evals.servers.embedded`
for the child, which writes one line of JSON (its address) to the pipe it was given and then only serves.
"""

import contextlib
import ctypes
import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ...errors import UserError
from .log_tail import last_output

_START_SECONDS = 120.0


class Speculation(StrEnum):
    """How an embedded server speculates; the values are llama.cpp's own names."""

    NONE = "none"
    NGRAM = (
        "ngram-simple"  # repeats what followed the same tokens earlier in the context; needs no second model
    )
    DRAFT = "draft-simple"  # a draft model proposes; a model may serve as its own draft


@dataclass(frozen=True, slots=True)
class _Settings:
    """What the child needs to know, as it travels on its command line."""

    name: str
    model: str
    speculation: Speculation
    draft_model: str
    n_ctx: int
    threads: int
    parallel: int
    chat_template: str | None
    kill_with_parent: bool


class EmbeddedServer:
    """A running server; leaving the `with` block, or `stop`, ends it.

    Attributes:
        name: The model's name as the server reports it.
        base_url: Where its OpenAI API lives, ending in `/v1`.
        speculation: How it was told to speculate.
        log: The file that its output goes to.
    """

    def __init__(
        self, process: subprocess.Popen[str], *, name: str, base_url: str, speculation: Speculation, log: Path
    ) -> None:
        self.name = name
        self.base_url = base_url
        self.speculation = speculation
        self.log = log
        self._process = process

    @property
    def pid(self) -> int:
        """The process id of the server."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process is still there; false after a crash too."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End the server and wait until it is gone; stopping twice is allowed."""
        _end(self._process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start_embedded(
    name: str,
    model: Path,
    speculation: Speculation,
    *,
    n_ctx: int = 4096,
    threads: int = 2,
    parallel: int = 1,
    draft_model: Path | None = None,
    chat_template: str | None = None,
    log: Path,
) -> EmbeddedServer:
    """Start a server and return once it answers; it ends with this process, however this process ends.

    Args:
        name: The model's name in `/v1/models`.
        model: A GGUF file.
        speculation: How to speculate.
        n_ctx: Tokens of context for all slots together.
        threads: Threads for computing.
        parallel: How many requests are served at once (slots).
        draft_model: The draft for `Speculation.DRAFT`; the model itself when left out.
        chat_template: A Jinja template in place of the one in the file.
        log: The file for the server's output; its folder is made, an old file is overwritten.

    Raises:
        UserError: xllamacpp is not installed, a file is missing, or the server did not come up; then the
            last lines of its output are part of the message.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise UserError(
            "the embedded llama.cpp server needs the package xllamacpp, which is not installed",
            tip="pip install 'draftproof[demo]'",
        )
    for file in (model, draft_model):
        if file is not None and not file.is_file():
            raise UserError(
                f"{file}: no such model file", tip="name an existing GGUF file: --model FILE.gguf"
            )
    settings = _Settings(
        name=name,
        model=str(model.resolve()),
        speculation=speculation,
        draft_model=str((draft_model or model).resolve()),
        n_ctx=n_ctx,
        threads=threads,
        parallel=parallel,
        chat_template=chat_template,
        # The kernel's signal comes when the starting *thread* ends: right only for the main one.
        kill_with_parent=threading.current_thread() is threading.main_thread(),
    )
    process = _spawn(settings, log)
    try:
        address = _await_address(process)
    except BaseException:
        _end(process)
        raise
    if address is None:
        how = f"gave no address within {_START_SECONDS:.0f} s" if process.poll() is None else "did not start"
        _end(process)
        raise UserError(
            f"{model}: the embedded server ({speculation}) {how}; {last_output(log)}",
            tip=f"is it a whole GGUF file that llama.cpp can load? The whole log: {log}",
        )
    return EmbeddedServer(process, name=name, base_url=f"{address}/v1", speculation=speculation, log=log)


def _spawn(settings: _Settings, log: Path) -> subprocess.Popen[str]:
    log.parent.mkdir(parents=True, exist_ok=True)
    # The engine's threads spin while they wait for each other, and on a busy machine each burns the time that
    # the other needs (seen: 60 s for one short answer). A short spin keeps the speed of an idle machine and
    # gives a busy one its time back soon.
    # -P keeps the working folder off sys.path: a json.py lying there must not become the child's json.
    command = [sys.executable, "-P", "-m", "draftproof.evals.servers.embedded", json.dumps(asdict(settings))]
    with log.open("wb") as output:
        return subprocess.Popen(  # noqa: S603 - this interpreter, this module
            command,
            stdin=subprocess.PIPE,  # never written to; that it closes tells the child that the parent is gone
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
            env={"GOMP_SPINCOUNT": "20000", **os.environ},
            start_new_session=True,  # Ctrl-C is the parent's to handle: it still wants to ask for facts
        )


def _await_address(process: subprocess.Popen[str]) -> str | None:
    """Return the server's address; None if it died, or said nothing for too long."""
    pipe = process.stdout
    if pipe is None:
        return None
    ready, _, _ = select.select([pipe], [], [], _START_SECONDS)
    line = pipe.readline() if ready else ""
    if not line and ready:
        # Its end of the pipe is closed, so it is ending: wait, to tell "died" from "said nothing".
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
    return json.loads(line)["address"] if line else None


def _end(process: subprocess.Popen[str]) -> None:
    # The engine keeps nothing that a gentler ending would save.
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _main() -> None:
    """Serve until the parent is gone; the child's whole life."""
    settings = _Settings(**json.loads(sys.argv[1]))
    if settings.kill_with_parent and sys.platform == "linux":
        _die_with_parent()
    handshake = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the engine prints belongs in the log, not in the handshake
    threading.Thread(target=_exit_when_stdin_closes, daemon=True).start()
    try:
        server = _serve(settings)
    except RuntimeError as error:
        sys.exit(str(error))  # the engine has already written why, above this line in the log
    with handshake:
        handshake.write(json.dumps({"address": server.listening_address}) + "\n")
    while True:
        time.sleep(3600)


def _die_with_parent() -> None:
    """Ask Linux for SIGKILL when the parent dies.

    It works even while the engine loads, which holds the interpreter lock and so stops the portable guard.
    """
    pr_set_pdeathsig = 1  # linux/prctl.h
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _exit_when_stdin_closes() -> None:
    """End the process when the parent's end of the pipe closes: the guard that works on any system.

    It also covers a parent that died before `_die_with_parent` was called.
    """
    while os.read(0, 1):
        pass
    os._exit(0)


def _serve(settings: _Settings) -> Any:  # noqa: ANN401 - xllamacpp is compiled and carries no types
    import xllamacpp  # pyright: ignore[reportMissingTypeStubs]

    x: Any = xllamacpp
    params = x.CommonParams()
    params.model.path = settings.model
    params.model_alias = {settings.name}
    params.n_ctx = settings.n_ctx
    params.n_parallel = settings.parallel
    _set_threads(params, settings.threads)
    params.port = 0  # any free one
    params.use_jinja = True
    params.ui = False
    params.endpoint_metrics = True
    params.endpoint_slots = True
    # Prompts of one toolset share their long beginning: keep a few beginnings, not gigabytes of them.
    params.cache_ram_mib = 512
    if settings.chat_template is not None:
        params.chat_template = settings.chat_template
    kinds = x.common_speculative_type
    match Speculation(settings.speculation):
        case Speculation.NONE:
            pass
        case Speculation.NGRAM:
            params.speculative.types = [kinds.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
            # llama.cpp's own 12 and 48 suit long texts and GPUs: in short answers 12 known tokens are rare,
            # two thirds of the 48 were refused here, and on a CPU each refused token costs its full price.
            params.speculative.ngram_simple.size_n = 4
            params.speculative.ngram_simple.size_m = 12
        case Speculation.DRAFT:
            params.speculative.types = [kinds.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
            params.speculative.draft.mparams.path = settings.draft_model
            _set_threads(params.speculative.draft, settings.threads)
    return x.Server(params)


def _set_threads(params: Any, threads: int) -> None:  # noqa: ANN401 - as above
    """Use all threads for prompts and for single tokens."""
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads


if __name__ == "__main__":
    _main()
