"""Secrets of an arm: read from the environment, put into the client, and nowhere else."""

import os
import re

from ...errors import UserError
from ..arm import VARIABLE, Arm


def api_key(arm: Arm) -> str | None:
    """The arm's key from the environment; it goes into the client and nowhere else.

    Raises:
        UserError: The plan names a variable that is not set, or its value cannot stand in a header.
    """
    name = arm.api_key_env or "OPENAI_API_KEY"
    # A file read into a variable brings its last newline along.
    key = os.environ.get(name, "").strip()
    if not key:
        if arm.api_key_env is None:
            return None
        raise UserError(
            f"arm {arm.name}: api_key_env names {name}, which is not set",
            tip=f"export {name}=… before the run; keys are read from the environment only",
        )
    if not (key.isascii() and key.isprintable()):
        raise UserError(
            f"arm {arm.name}: {name} holds a character that no key has (a line break, or not ASCII)"
        )
    return key


def headers_of(arm: Arm) -> dict[str, str]:
    """The arm's own headers, with `${VARIABLE}` taken from the environment.

    Raises:
        UserError: A variable is not set, or its value cannot stand in a header.
    """

    def value_of(match: re.Match[str]) -> str:
        value = os.environ.get(match[1], "").strip()
        if not value or not (value.isascii() and value.isprintable()):
            raise UserError(
                f"arm {arm.name}: headers name {match[1]}, which is not set (or no text for a header)",
                tip=f"export {match[1]}=… before the run; secrets are read from the environment only",
            )
        return value

    return {name: VARIABLE.sub(value_of, text) for name, text in arm.headers.items()}


def secrets_of(arm: Arm) -> list[str]:
    """Every secret that is sent to an arm's server, to be kept out of what the server says back."""
    named = [match for text in arm.headers.values() for match in VARIABLE.findall(text)]
    values = [api_key(arm) or "", *(os.environ.get(name, "").strip() for name in named)]
    return [value for value in values if value]
