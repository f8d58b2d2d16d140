"""The codes for a dispatchable answer that is wrong, and what such a difference says."""

from dataclasses import dataclass
from enum import StrEnum


class DifferenceCode(StrEnum):
    """How a dispatchable answer differs from a right one.

    The order is the order of precedence: where several fit, the first is said. The last two are never said
    beside another: grading says `overrun` when everything due had been called, and attribution, which sees
    both arms, replaces `no_call` or `empty_output` by `premature_stop`.
    """

    EMPTY_OUTPUT = "empty_output"
    DEGENERATE_LOOP = "degenerate_loop"
    NO_CALL = "no_call"
    CALL_NOT_DUE = "call_not_due"
    MISSING_CALL = "missing_call"
    EXTRA_CALL = "extra_call"
    DUPLICATE_CALL = "duplicate_call"
    WRONG_FUNCTION = "wrong_function"
    MISSING_ARGUMENT = "missing_argument"
    EXTRA_ARGUMENT = "extra_argument"
    WRONG_ARGUMENTS = "wrong_arguments"
    OVERRUN = "overrun"
    PREMATURE_STOP = "premature_stop"


@dataclass(frozen=True, slots=True)
class Difference:
    """What is wrong with an answer that a client could dispatch.

    `message` names everything that differs, in words; `paths` are the JSON paths (`$.city`, within the
    arguments of the calls that the message names) of the arguments that are missing, extra or wrong.
    """

    code: DifferenceCode
    message: str
    paths: tuple[str, ...] = ()
