"""What is known of a server: its kind, its context, and whether it speculates."""

from dataclasses import dataclass
from enum import StrEnum


class ServerKind(StrEnum):
    """Engines whose pages we know."""

    LLAMA_CPP = "llama.cpp"
    VLLM = "vllm"
    SGLANG = "sglang"
    UNKNOWN = "unknown"


class Speculating(StrEnum):
    """What the server shows; `unknown` is not off."""

    ON = "on"
    OFF = "off"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """Fingerprint of a prompt as the server renders it, counted in `unit` (tokens, or characters of text)."""

    unit: str
    size: int
    digest: str

    @property
    def text(self) -> str:
        """For people."""
        return f"{self.size} {self.unit}, #{self.digest}"


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Facts of one server at one time; what it does not tell is None.

    `context` is the number of tokens that prompt and answer share (per slot in llama.cpp). `kv_tokens` is
    what the KV cache holds. `lossy` names settings by which speculation may change answers on purpose.
    `prompt` is what the server makes of the first sample of a run (not kept of a redacted one).
    """

    kind: ServerKind = ServerKind.UNKNOWN
    version: str | None = None
    models: tuple[str, ...] = ()
    context: int | None = None
    speculating: Speculating = Speculating.UNKNOWN
    kv_tokens: int | None = None
    lossy: tuple[str, ...] = ()
    prompt: RenderedPrompt | None = None
