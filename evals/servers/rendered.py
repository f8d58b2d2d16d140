"""The prompt that a server makes of a request, as a fingerprint: two servers compare without keeping it."""

import hashlib
import json
from collections.abc import Sequence

from pydantic import JsonValue

from .server import RenderedPrompt


def fingerprint(prompt: str | Sequence[JsonValue] | None) -> RenderedPrompt | None:
    """Return the fingerprint of a rendered prompt: a text, or token ids."""
    if prompt is None:
        return None
    sort = "characters" if isinstance(prompt, str) else "tokens"
    canonical = json.dumps(prompt if isinstance(prompt, str) else list(prompt))
    return RenderedPrompt(sort, len(prompt), hashlib.sha256(canonical.encode()).hexdigest()[:12])
