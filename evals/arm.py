"""`[[arms]]`: one endpoint under one configuration, as the plan describes it."""

import json
import re
import shlex
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

from ..tasks.request_fields import PLANNED_FIELDS

ARM_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password|credential", re.IGNORECASE)
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
SECRET_VARIABLE = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$", re.IGNORECASE)
SECRET_OPTION = re.compile(r"--([a-z-]+-)?(api-key|token|secret|password)(=.*)?", re.IGNORECASE | re.DOTALL)


class Section(BaseModel):
    """A table of the plan: frozen, strict, and without keys that nobody knows."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Arm(Section):
    """`[[arms]]`: one endpoint under one configuration."""

    name: str
    base_url: str
    model: str = Field(min_length=1)
    api_key_env: str | None = None
    baseline: bool = False
    speculation: str | None = None
    speculating: bool | Literal["unknown"] = "unknown"  # said by the user, where the server does not show it
    metrics_url: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    serve: str | None = Field(
        default=None, min_length=1
    )  # a command: then the tool starts and ends the server
    ready_url: str | None = None
    start_timeout: float = Field(default=600, gt=0, allow_inf_nan=False)  # seconds
    env: dict[str, str] = Field(default_factory=dict)
    extra_body: dict[str, JsonValue] = Field(default_factory=dict)

    @field_validator("name")
    @classmethod
    def _plain_name(cls, value: str) -> str:
        # "." and ".." match the pattern and are no file names.
        if not ARM_NAME.fullmatch(value) or set(value) == {"."}:
            msg = "expected 1 to 64 letters, digits, dots, dashes or underscores"
            raise ValueError(msg)
        return value

    @field_validator("base_url", "metrics_url", "ready_url")
    @classmethod
    def _http_url(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        # Reading the port raises a ValueError of its own where it is none.
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            msg = "expected an http:// or https:// URL such as http://127.0.0.1:8000/v1"
            raise ValueError(msg)
        if parts.username is not None or parts.password is not None:
            msg = "expected a URL without user or password (name a variable in api_key_env instead)"
            raise ValueError(msg)
        if parts.query or parts.fragment:
            msg = "expected a URL without ? or #"
            raise ValueError(msg)
        return value.rstrip("/")

    @field_validator("serve")
    @classmethod
    def _one_command(cls, value: str | None) -> str | None:
        try:
            words = shlex.split(value) if value is not None else ["none"]
        except ValueError as error:
            msg = f"expected one command ({error})"
            raise ValueError(msg) from None
        if not words:
            msg = "expected a command, such as 'vllm serve MODEL --port 8001'"
            raise ValueError(msg)
        if secrets := [word.partition("=")[0] for word in words if SECRET_OPTION.fullmatch(word)]:
            msg = (
                f"{secrets[0]} gives a secret that run.json would keep; servers take it from the environment"
            )
            raise ValueError(msg)
        return value

    @model_validator(mode="after")
    def _keys_of_a_server(self) -> "Arm":
        if self.serve is None and (self.env or self.ready_url is not None):
            msg = "env and ready_url go with serve; expected a command there"
            raise ValueError(msg)
        if secrets := [name for name in self.env if SECRET_VARIABLE.search(name)]:
            msg = f"env: {secrets[0]} looks like a secret; expected it in the environment of the run itself"
            raise ValueError(msg)
        return self

    @field_validator("headers")
    @classmethod
    def _no_secret(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if not HEADER_NAME.fullmatch(name) or not (text.isascii() and text.isprintable()):
                msg = f"{name!r}: expected a header's name and a value of printable ASCII"
                raise ValueError(msg)
            if SECRET_HEADER.search(name) and not VARIABLE.search(text):
                msg = f"{name}: expected its value as ${{VARIABLE}}: keys are read from the environment only"
                raise ValueError(msg)
        return value

    @field_validator("extra_body")
    @classmethod
    def _no_reserved_field(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if taken := sorted(PLANNED_FIELDS & value.keys()):
            msg = f"{', '.join(taken)} is set by [run] for every arm alike; expected other request fields"
            raise ValueError(msg)
        try:
            json.dumps(value, allow_nan=False)
        except ValueError:
            msg = "expected finite numbers: JSON has no nan and no inf"
            raise ValueError(msg) from None
        return value
