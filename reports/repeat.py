"""How to ask an endpoint the same thing again, by hand: a curl line and a Python snippet with the exact body.

Keys stand in neither: both read them from the environment.
"""

import json
import re
import shlex
from collections.abc import Mapping

from pydantic import JsonValue

from ..evals.plan import Arm, Mode

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DEFAULT_KEY = "OPENAI_API_KEY"


def body_text(body: Mapping[str, JsonValue]) -> str:
    r"""The body as JSON that can stand anywhere: one line of ASCII, without a single quote.

    Everything else is escaped (`\u0027`), so neither a shell nor Python nor a terminal can take part of a
    prompt for its own syntax.
    """
    return json.dumps(body, ensure_ascii=True).replace("'", "\\u0027")


def curl_frame(arm: Arm, mode: Mode) -> tuple[str, str]:
    """What stands before and after the body in a curl line.

    The body goes through standard input: as an argument it would end at 128 KiB on Linux.
    """
    head = (
        f"curl -sS {shlex.quote(_url(arm, mode))} \\\n"
        "  -H 'Content-Type: application/json' \\\n"
        f'  -H "Authorization: Bearer {_key_in_shell(arm)}" \\\n'
        "  --data-binary @- <<'BODY'\n"
    )
    return head, "\nBODY\n"


def python_frame(arm: Arm, mode: Mode) -> tuple[str, str]:
    """What stands before and after the body in a Python snippet of the standard library alone."""
    head = "import os\nimport urllib.request\n\nbody = r'''"
    tail = f"""'''
request = urllib.request.Request(
    {_url(arm, mode)!r},
    data=body.encode(),
    headers={{
        "Content-Type": "application/json",
        "Authorization": "Bearer " + os.environ.get({arm.api_key_env or DEFAULT_KEY!r}, "none"),
    }},
)
with urllib.request.urlopen(request) as response:
    print(response.read().decode())
"""
    return head, tail


def curl_line(arm: Arm, mode: Mode, body: Mapping[str, JsonValue]) -> str:
    """A request as a command for a POSIX shell."""
    head, tail = curl_frame(arm, mode)
    return head + body_text(body) + tail


def python_snippet(arm: Arm, mode: Mode, body: Mapping[str, JsonValue]) -> str:
    """A request as a Python program."""
    head, tail = python_frame(arm, mode)
    return head + body_text(body) + tail


def _url(arm: Arm, mode: Mode) -> str:
    return f"{arm.base_url}/{'completions' if mode is Mode.RAW else 'chat/completions'}"


def _key_in_shell(arm: Arm) -> str:
    name = arm.api_key_env or DEFAULT_KEY
    # A name that is no shell variable is still one of the environment, and must not become a command.
    return f"${name}" if _VARIABLE.fullmatch(name) else f"$(printenv {shlex.quote(name)})"
