"""Captured traffic as samples: a chat-completions body a line, or a log with the response beside it.

Nobody labelled it: the baseline's own answer is the reference, and a response that was logged is not. What
the plan sets for every sample alike (model, sampling, budget) is not taken over but kept in
`metadata.captured`; every other field is sent as it was.
"""

from collections.abc import Mapping

from ..parsers.result import Json, JsonObject
from .problems import SampleError
from .raw_sample import sample_from_json
from .request_fields import PLANNED_FIELDS
from .row import Ids, Row, read_text
from .sample import Sample
from .shape import REQUEST_MEMBERS
from .values import shown

CAPTURED_CATEGORY = "captured"

_LOG_IDS = ("id", "custom_id", "request_id")
# Members of a line that say something of the request, and were no part of it.
_BESIDE = frozenset(("id", "category"))
# A vendor verifier's files call the system turn so, and mean this.
_ROLES: dict[str, Json] = {"_input": "system"}


def sample_of_request(row: Row, ids: Ids) -> Sample:
    """Read a line that is a whole request; `id` and `category` in it are not sent.

    Raises:
        SampleError: It is no request that could be sent again.
    """
    body = {name: value for name, value in row.members.items() if name not in _BESIDE}
    return _sample(body, ids.given(row.members.get("id")), row, ids)


def sample_of_log(row: Row, ids: Ids) -> Sample:
    """Read a line with a request in it, as an object or as text; the id is the line's or the request's.

    Raises:
        SampleError: It is no request that could be sent again.
    """
    member = next(name for name in REQUEST_MEMBERS if row.members.get(name) is not None)
    body = read_text(row.members[member], member)
    if not isinstance(body, Mapping):
        raise SampleError(member, f"is {shown(body)}, expected a chat-completions request")
    own = next((one for name in _LOG_IDS if (one := ids.given(row.members.get(name))) is not None), None)
    try:
        return _sample(dict(body), own, row, ids)
    except SampleError as error:
        raise SampleError(f"{member}.{error.field}" if error.field else member, error.problem) from None


def _sample(body: dict[str, Json], own_id: str | None, row: Row, ids: Ids) -> Sample:
    planned = {name: body[name] for name in sorted(PLANNED_FIELDS & body.keys()) if name not in _CARRIED}
    raw: dict[str, Json] = {
        "id": ids.derived(body) if own_id is None else own_id,
        "category": row.category or CAPTURED_CATEGORY,
        "messages": _messages(body.get("messages")),
        "tools": body.get("tools") or [],
        "tools_unchecked": True,
        "extra_body": {name: value for name, value in body.items() if name not in PLANNED_FIELDS},
    }
    if body.get("tool_choice") is not None:
        raw["tool_choice"] = body["tool_choice"]
    if planned:
        raw["metadata"] = {"captured": planned}
    return sample_from_json(raw)


_CARRIED = frozenset(("messages", "tools", "tool_choice"))


def _messages(messages: Json) -> Json:
    if messages is None:
        raise SampleError("messages", "is missing")
    return [_turn(turn) for turn in messages] if isinstance(messages, list) else messages


def _turn(turn: Json) -> Json:
    if not isinstance(turn, Mapping):
        return turn
    role = turn.get("role")
    renamed: JsonObject = {"role": _ROLES[role]} if isinstance(role, str) and role in _ROLES else {}
    return {**turn, **renamed}
