"""Differences, and the codes of cap, unresolved and void, explained."""

from ..evals.attempt import ErrorType
from ..evals.judging.attribute import CONTEXT_LIMIT, SERVER_LIMIT, STILL_TRUNCATED
from ..tasks.differences import DifferenceCode as D
from .explanation import Explanation, Group

_WEIGH = "Weigh it against the fixes and the control's churn: greedy answers flip at near-ties by themselves."
_FLIP = "A near-tie that fell the other way; everything after it follows from that."

_DIFFERENCES = (
    Explanation(
        D.EMPTY_OUTPUT,
        "The answer holds no call and no text.",
        'content: ""   finish_reason: "stop"   completion_tokens: 1',
        "The end of text was the first token that was accepted.",
        "Compare with the control; reproduced in the candidate alone, it is worth a report.",
    ),
    Explanation(
        D.DEGENERATE_LOOP,
        "The tail of the answer repeats itself over half of its length.",
        "the city of Oslo, the city of Oslo, the city of Oslo, the city of …",
        "Small models at temperature 0; n-gram drafts feed a loop once it has begun.",
        "See whether the baseline loops on the same samples; a larger cap will not help.",
    ),
    Explanation(D.NO_CALL, "A call was due and none came.", "Sure! Which city do you mean?", _FLIP, _WEIGH),
    Explanation(
        D.CALL_NOT_DUE,
        "A call came where none was right.",
        'user: "Thanks!"   →   get_weather {"city": "Oslo"}',
        _FLIP,
        _WEIGH,
    ),
    Explanation(
        D.MISSING_CALL,
        "One of several calls that were due did not come.",
        "due: get_weather Oslo, get_weather Bergen   →   get_weather Oslo",
        "An end that came early; dialects that close a section after the last call invite it.",
        _WEIGH,
    ),
    Explanation(
        D.EXTRA_CALL,
        "A call came beside those that were due.",
        "due: get_weather Oslo   →   get_weather Oslo, get_news Oslo",
        _FLIP,
        _WEIGH,
    ),
    Explanation(
        D.DUPLICATE_CALL,
        "A call that was due came again with equal arguments.",
        "due: get_weather Oslo   →   get_weather Oslo, get_weather Oslo",
        "Copying drafts make repeats likelier; so does a small model.",
        "Compare with the control: a client that dispatches both acts twice.",
    ),
    Explanation(
        D.WRONG_FUNCTION,
        "Another declared function was called.",
        "due: get_weather Oslo   →   get_news Oslo",
        _FLIP,
        _WEIGH,
    ),
    Explanation(
        D.MISSING_ARGUMENT,
        "An argument that the schema leaves open, and that was due, is missing.",
        'due: get_weather {"city": "Oslo", "unit": "celsius"}   →   get_weather {"city": "Oslo"}',
        _FLIP,
        _WEIGH,
    ),
    Explanation(
        D.EXTRA_ARGUMENT,
        "An argument came that was not asked for.",
        'due: get_weather {"city": "Oslo"}   →   get_weather {"city": "Oslo", "days": 3}',
        _FLIP,
        _WEIGH,
    ),
    Explanation(
        D.WRONG_ARGUMENTS,
        "An argument has a wrong value; the JSON paths say which.",
        'due: get_weather {"city": "Oslo"}   →   get_weather {"city": "Bergen"}',
        _FLIP,
        _WEIGH,
    ),
    Explanation(
        D.OVERRUN,
        "Everything due had been called, and then text ran on into the cap.",
        "<tool_call>…</tool_call>\nNow I will wait for the result. Meanwhile, let me tell you about …",
        "An end of text that was not taken; base models and small ones do it.",
        "See whether the baseline does it too; a stop string after the call ends it.",
    ),
    Explanation(
        D.PREMATURE_STOP,
        "The candidate stopped far before the baseline, inside something unfinished or right after thinking.",
        "baseline: 180 tokens and a call   →   candidate: 40 tokens, ends with </think>",
        "An end-of-text token that was wrongly accepted: known of draft models and MTP heads.",
        "Reproduced, it is a bug worth reporting, with the body from `show --repeat curl`.",
    ),
)

_CAP = (
    Explanation(
        "cap_cut",
        "Cut at the first budget, right at a larger one: the cap broke it, and nothing else.",
        "budget 1024: cut, <tool_call>{…   budget 2048: right, 1,203 tokens",
        "Another wording is another length. Speculation moves lengths both ways.",
        "Raise max_tokens to what the report says is needed; this is no fault of speculation.",
    ),
    Explanation(
        "cap_reasoning",
        "The same, cut while still thinking.",
        "budget 1024: <think> Let me see …   budget 2048: right",
        "Thinking grew past the cap.",
        "Raise max_tokens, or limit thinking in both arms alike.",
    ),
)

_UNRESOLVED = (
    Explanation(
        STILL_TRUNCATED,
        "Still cut at the last budget that was asked; where both arms are, the pair is void.",
        "budget 1024: cut   budget 2048: cut",
        "Long answers, or text that never ends.",
        "Ask with more doublings, or a larger max_tokens.",
    ),
    Explanation(
        CONTEXT_LIMIT,
        "Cut because the context is full: no larger budget fits.",
        "prompt 7,900 + 292 tokens = context 8,192",
        "A server started with a small context.",
        "Start the servers with a larger context, the same for both.",
    ),
    Explanation(
        SERVER_LIMIT,
        "Cut below the budget, and not by the context: a limit of the server's own.",
        "budget 1024: length at 512   budget 2048: length at 512",
        "A server-side maximum (a generation config, a proxy).",
        "Lift the limit in both arms, or set max_tokens below it.",
    ),
)

_VOID = (
    Explanation(
        ErrorType.ENDPOINT_ERROR,
        "The endpoint answered an error, or nobody answered, after all retries.",
        "HTTP 503, connection refused",
        "A server that is down, overloaded or misconfigured.",
        "Read the message in `show`; run again, and only what is missing is asked.",
    ),
    Explanation(
        ErrorType.TIMEOUT,
        "No whole answer came within the timeout.",
        "no whole answer within 600 s",
        "A busy server, or an answer that never ends.",
        "Raise timeout or lower concurrency, and run again.",
    ),
    Explanation(
        ErrorType.BAD_RESPONSE,
        "What came is no completion: not JSON, without choices, or a stream that broke.",
        "<html><body>502 Bad Gateway</body></html>",
        "A proxy between you and the server, or a wrong base_url.",
        "Check base_url (it ends in /v1 on most servers), and run again.",
    ),
    Explanation(
        ErrorType.UNSUPPORTED_REQUEST,
        "The server refuses a field of the request.",
        'HTTP 400: "max_tokens is too large"',
        "A parameter that this server does not know, or a budget over its limit.",
        "Read the message in `show`, and change extra_body or the budget.",
    ),
    Explanation(
        "missing_attempt",
        "One arm was asked and the other was not.",
        "baseline: pass   ngram: not asked",
        "A run that was interrupted, or one with --arm.",
        "Run again with the same --out: what is missing is asked.",
    ),
    Explanation(
        "no_reference",
        "Nobody labelled the sample, and the baseline's answer cannot serve as the reference.",
        "baseline: cut at 1,024 tokens",
        "The reference answer is cut or malformed.",
        "Raise max_tokens, or label the sample.",
    ),
)

DIFFERENCES: tuple[Group, ...] = (
    Group(
        "Differences",
        "Dispatchable and wrong: cause `real_change`. Where several fit, the first of this list is said.",
        _DIFFERENCES,
    ),
)
OUTCOMES: tuple[Group, ...] = (
    Group("Cap", "The cap broke it: cause `cap`.", _CAP),
    Group("Unresolved", "No budget was enough to tell: cause `unresolved`.", _UNRESOLVED),
    Group(
        "Void",
        "No judgement, always counted, never the model's fault. `filtered` and `aborted` (endings) and "
        "`still_truncated` in both arms are void as well.",
        _VOID,
    ),
)
