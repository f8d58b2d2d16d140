"""Secrets of an arm: read from the environment, put into the client, and nowhere else."""

import os
import re
from dataclasses import replace

from pydantic import JsonValue

from ...errors import UserError
from ..arm import VARIABLE, Arm
from .response import Completion

# Shorter ones are placeholders of local servers, and words of answers.
SHORTEST_SECRET = 12
PLACEHOLDER = "[key]"


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


class Secrets:
    """What is sent to an arm's server in confidence, to be kept out of what the server says back.

    An error is ours to word, so any secret is taken out of it. An answer is evidence: a placeholder such as
    `EMPTY` or `test`, which local servers are given for a key, may well stand in it, and stays.
    """

    def __init__(self, arm: Arm) -> None:
        named = [match for text in arm.headers.values() for match in VARIABLE.findall(text)]
        values = {api_key(arm) or "", *(os.environ.get(name, "").strip() for name in named)} - {""}
        # The longest first: one may be the beginning of another.
        self._all = sorted(values, key=len, reverse=True)
        long = [value for value in self._all if len(value) >= SHORTEST_SECRET]
        # Some servers write "/" as "\\/" in their JSON.
        self._long = [form for value in long for form in (value, value.replace("/", "\\/"))]

    def out_of_error(self, message: str) -> str:
        """The message without any secret."""
        for secret in self._all:
            message = message.replace(secret, PLACEHOLDER)
        return message

    def out_of_text(self, text: str) -> str:
        """What a server sent, as text or as JSON that is still text, without what is surely a secret."""
        for secret in self._long:
            text = text.replace(secret, PLACEHOLDER)
        return text

    def out_of_json(self, value: JsonValue) -> JsonValue:
        """A value of JSON, names of members included, without what is surely a secret."""
        match value:
            case str():
                return self.out_of_text(value)
            case list():
                return [self.out_of_json(item) for item in value]
            case dict():
                return {self.out_of_text(name): self.out_of_json(item) for name, item in value.items()}
            case _:
                return value

    def out_of_completion(self, completion: Completion) -> Completion:
        """An answer without what is surely a secret; a stream may have brought it in pieces."""
        if not self._long:
            return completion
        return replace(
            completion,
            finish_reason=self._out_of(completion.finish_reason),
            stop_reason=self.out_of_json(completion.stop_reason),
            content=self._out_of(completion.content),
            reasoning=self._out_of(completion.reasoning),
            tool_calls=self.out_of_json(completion.tool_calls),
            system_fingerprint=self._out_of(completion.system_fingerprint),
        )

    def _out_of(self, text: str | None) -> str | None:
        return None if text is None else self.out_of_text(text)
