"""Endings, notes, and what two ways of asking came to, explained."""

from ..evals.judging.attribute import ONLY_BATCHED, ONLY_WARM
from ..evals.judging.ways import WayCode as W
from ..evals.reading.answer import Ending
from ..evals.runs.divergence import DivergenceLabel
from ..parsers.codes import NoteCode as N
from .explanation import Explanation, Group

_RAISE = "It is asked again at a doubled budget in every arm; raise max_tokens if many are cut."
_NOTHING = "Nothing: a note is never a defect."

_ENDINGS = (
    Explanation(
        Ending.FINISHED,
        "The answer ended by itself.",
        'finish_reason "stop", 50 tokens of 1,024',
        "The usual case.",
        "Nothing.",
    ),
    Explanation(
        Ending.CUT,
        "The budget cut the answer.",
        'finish_reason "length", 1,024 tokens of 1,024',
        "A budget too small for this answer.",
        _RAISE,
    ),
    Explanation(
        Ending.CUT_MASKED,
        "The budget cut the answer, and the server gave another reason.",
        'finish_reason "tool_calls", 1,024 tokens of 1,024, and the call is not whole',
        "Servers that report a parsed call instead of the cut.",
        "Trust the token count; " + _RAISE[0].lower() + _RAISE[1:],
    ),
    Explanation(
        Ending.CUT_CONTEXT,
        "The context was full before the budget was used up.",
        'finish_reason "length", 292 tokens of 1,024, context 8,192',
        "A server started with a small context.",
        "Start the servers with a larger context, the same for both.",
    ),
    Explanation(
        Ending.CUT_SERVER,
        "A limit of the server's own cut the answer below the budget.",
        'finish_reason "length", 512 tokens of 1,024, and 512 again of 2,048',
        "A server-side maximum.",
        "Lift the limit in both arms, or set max_tokens below it.",
    ),
    Explanation(
        Ending.CUT_REASONING,
        "The answer was cut before the end of thinking.",
        "<think> The user wants …   (1,024 tokens)",
        "Thinking longer than the budget.",
        "Raise max_tokens, or limit thinking in both arms alike.",
    ),
    Explanation(
        Ending.MISSING_FINISH,
        "A whole response without a finish_reason; it is graded on its text.",
        "finish_reason null",
        "A server or proxy that leaves it out.",
        "Nothing, unless answers look cut: then only token counts can tell.",
    ),
    Explanation(
        Ending.FILTERED,
        "A content filter ended the answer: void.",
        'finish_reason "content_filter"',
        "A hosted endpoint's filter.",
        "Leave the sample out, or switch the filter off in both arms.",
    ),
    Explanation(
        Ending.ABORTED,
        "The server gave the answer up: void.",
        'finish_reason "abort"',
        "A server that restarts, or runs out of memory.",
        "Read the server's log, and run again.",
    ),
    Explanation(
        Ending.REPETITION,
        "The server stopped a repetition; it counts as `degenerate_loop`.",
        'finish_reason "repetition"',
        "A server that watches for loops.",
        "See whether the baseline loops on the same samples.",
    ),
)

_NOTES = (
    Explanation(
        N.TOKEN_DUPLICATION,
        "An immediate repeat inside markup or punctuation, beside its defect.",
        '{"name": "name": "get_weather"',
        "The finger-print of wrongly accepted draft tokens.",
        "Reproduced in the candidate alone, report it to the server's project.",
    ),
    Explanation(
        N.PYTHON_SPELLING,
        "True, False or None in place of JSON's true, false or null.",
        "<parameter=metric>True</parameter>",
        "A habit that chat templates teach.",
        _NOTHING,
    ),
    Explanation(
        N.INTEGER_AS_FLOAT,
        "5.0 for an integer: JSON Schema takes it, some clients do not.",
        'get_weather {"days": 5.0}',
        "A model's habit.",
        _NOTHING,
    ),
    Explanation(
        N.MISSING_NEWLINE,
        "A newline of the chat template is missing around a call.",
        '<tool_call>{"name": "get_weather", …',
        "A model's habit; some servers' parsers want the newline.",
        "If the server's parser drops such calls, report it there.",
    ),
    Explanation(
        N.EXTRA_WHITESPACE,
        "Whitespace where the template writes none.",
        "get_weather  <sep>",
        "A model's habit.",
        _NOTHING,
    ),
    Explanation(
        N.EXTRA_MEMBER,
        "A member that the template does not write, and that adds nothing.",
        '{"type": "function", "name": "get_weather", "arguments": {}}',
        "A model trained on the API's form.",
        _NOTHING,
    ),
    Explanation(
        N.JOINED_CALLS,
        "Several calls in one message, where the template allows one.",
        '{"name": "get_weather", …}; {"name": "get_news", …}',
        "A model's habit; servers split them at a semicolon.",
        _NOTHING,
    ),
    Explanation(
        N.ODD_SPACING,
        "A tag with other spaces than the template's.",
        "<function = get_weather>",
        "A model's habit; most readers skip it.",
        _NOTHING,
    ),
    Explanation(
        N.ARGUMENTS_AS_OBJECT,
        "A server sent arguments as an object, where the API has a string.",
        'function: {"name": "get_weather", "arguments": {"city": "Oslo"}}',
        "The server's own way.",
        "Nothing; a strict client needs to take both.",
    ),
    Explanation(
        N.MISSING_ID,
        "A call that a server parsed has no id.",
        '{"type": "function", "function": {…}}',
        "The server's own way.",
        "A client that matches results by id needs a server that gives one.",
    ),
    Explanation(
        N.DUPLICATE_ID,
        "Two calls of one answer have the same id.",
        'id "call_0" twice',
        "The server's parser.",
        "Report it to the server's project: results cannot be told apart.",
    ),
    Explanation(
        N.FINISH_MISMATCH,
        "finish_reason says tool_calls without a call, or stop with one.",
        'finish_reason "tool_calls", tool_calls []',
        "The server's parser, or a call that it dropped.",
        "If a call was dropped, ask in prompted mode to see the raw text.",
    ),
)

_WAYS = (
    Explanation(
        W.STREAM_MISMATCH,
        "Streamed and not streamed, the answers hold different calls.",
        'streamed: get_weather {"city": "Os"}   whole: get_weather {"city": "Oslo"}',
        "A stream parser that cannot take several tokens in one delta, as speculation sends them.",
        "Report it to the server's project, or do not stream tool calls.",
    ),
    Explanation(
        W.STREAM_LOSS,
        "The same, and the streamed answer lacks calls that the other has.",
        "streamed: no call   whole: get_weather",
        "A whole call in one delta, which a stream parser passed over.",
        "Report it to the server's project, or do not stream tool calls.",
    ),
    Explanation(
        W.RAW_DIFFERS,
        "Native and raw answers to one question hold different calls: two generations, so only a note.",
        "native: get_weather   raw: get_news",
        "Constrained decoding in one of them, or a near-tie.",
        "Nothing by itself; many of them point to the server's parser.",
    ),
    Explanation(
        W.SERVER_PARSE_DROP,
        "The text of one generation holds calls that the server did not return.",
        "text: <tool_call>…</tool_call>   tool_calls: []",
        "A server's parser that gave up on the text, or does not fit the model.",
        "Check the server's tool-call parser option; report it if it fits.",
    ),
    Explanation(
        W.SERVER_PARSE_REPAIR,
        "The server returned clean calls of a text that is broken, or that holds others.",
        'text: {"city": "Oslo", "days":   tool_calls: get_weather {"city": "Oslo"}',
        "A lenient parser: clients see a call that the model did not finish.",
        "Do not trust such calls: a parameter may be missing without a word.",
    ),
    Explanation(
        W.SERVER_PARSE_PHANTOM,
        "The text holds no call, and the server returned one.",
        'text: "It is sunny."   tool_calls: get_weather {}',
        "A parser that takes prose for a call.",
        "Report it to the server's project.",
    ),
)

_LABELS = (
    Explanation(
        ONLY_BATCHED,
        "The regression showed again in company, and never when it was asked alone and without prefix cache.",
        "confirmed 1 of 3: the first, beside 7 other requests",
        "A fault of batching under speculation, or rounding that changes with the batch.",
        "Ask at concurrency 1 and at your load; report the difference with both runs.",
    ),
    Explanation(
        ONLY_WARM,
        "The same where nothing ran beside it: it took a warm prefix cache.",
        "confirmed 1 of 2: the one that reused a cached prefix",
        "A prefix cache that holds what a draft left there.",
        "Ask again with isolate = true, and with the server's prefix cache off.",
    ),
    Explanation(
        DivergenceLabel.NEAR_TIE,
        "At the first token that differs the baseline found both about equally likely (under one nat).",
        "baseline: Os -0.7   candidate: Be -0.9",
        "Verifying several tokens at once changes floating-point sums, and near-ties flip.",
        "Expect some of these; weigh them against the fixes and the control's churn.",
    ),
    Explanation(
        DivergenceLabel.WIDE,
        "At the first token that differs the baseline had a clear choice (one nat or more).",
        "baseline: Os -0.1   candidate: Be -6.2",
        "Under greedy decoding no rounding does this: a wrongly accepted draft, or another configuration.",
        "If it is reproduced, report it; it blocks a pass.",
    ),
    Explanation(
        DivergenceLabel.UNKNOWN,
        "How clear the baseline's choice was cannot be told; the finding says why.",
        "one answer is the beginning of the other",
        "A server without log-probabilities, or an answer that only went on longer.",
        "Nothing; on vLLM and llama.cpp most differences have a margin.",
    ),
)

ENDINGS: tuple[Group, ...] = (Group("Endings", "How an answer ended; every attempt has one.", _ENDINGS),)
NOTES: tuple[Group, ...] = (
    Group("Notes", "Spellings that a grammar tolerates, and finger-prints worth a look.", _NOTES),
    Group("Asked or read in two ways", "They stand beside the causes and change no grade.", _WAYS),
    Group("Labels of a finding", "Where it shows, and how near a tie it was.", _LABELS),
)
