"""Defects explained: why a client that keeps to the contract could not dispatch what came."""

from ..parsers.codes import DefectCode as D
from .explanation import Explanation, Group

_COMPARE = (
    "Compare with the control and the confirmations; if only the candidate does it, report it with the body."
)

_MARKUP = (
    Explanation(
        D.UNCLOSED_BLOCK,
        "A block was opened and the text ended inside it, though nothing cut the answer.",
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}',
        "An end-of-text token accepted too early, or a stop string inside the markup.",
        "Look at finish_reason and stop strings first; then compare with the control.",
    ),
    Explanation(
        D.STRAY_CLOSE,
        "A closing tag stands where no block is open.",
        '{"name": "get_weather", "arguments": {}}\n</tool_call>',
        "The opening tag was lost: a special token that the server strips, or a draft that skipped it.",
        "Check that special tokens reach the text (skip_special_tokens); then compare with the control.",
    ),
    Explanation(
        D.NESTED_OPEN,
        "A block was opened again before it was closed.",
        '<tool_call>\n<tool_call>\n{"name": "get_weather", "arguments": {}}\n</tool_call>',
        "A repeated token: typical of wrongly accepted draft tokens.",
        _COMPARE,
    ),
    Explanation(
        D.EMPTY_BLOCK,
        "A block holds no call.",
        "<tool_call>\n</tool_call>",
        "A model that is unsure, or a small one out of its depth.",
        "Usually the model's own; see whether the baseline does it too.",
    ),
    Explanation(
        D.WRONG_DIALECT,
        "A call came in another family's markup, in a Markdown fence, or as bare JSON.",
        '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```',
        "The wrong --dialect for this model, or a model that falls back to another habit.",
        "If most answers say so, the plan names the wrong dialect; else weigh it as a malformed call.",
    ),
    Explanation(
        D.MALFORMED_MARKUP,
        "A tag is not written as the grammar has it.",
        "<tool_call>\n<function=get_weather\n<parameter=parameter=city>Oslo</parameter>",
        "Tokens of a tag repeated or left out: typical of wrongly accepted draft tokens.",
        _COMPARE,
    ),
    Explanation(
        D.TEXT_BETWEEN_MARKUP,
        "Inside a block stands text where the grammar has none.",
        '<tool_call>\nHere it is: {"name": "get_weather", "arguments": {}}\n</tool_call>',
        "A model that talks inside its own markup.",
        "See whether the baseline does it too; a worked example in the prompt (?shots=2) often ends it.",
    ),
    Explanation(
        D.AMBIGUOUS_VALUE,
        "A value without quotes holds its own closing tag, so nobody can tell where it ends.",
        "<parameter=html><b>no </parameter> here</b></parameter>",
        "A dialect of raw values meets text that looks like its markup.",
        "A limit of the dialect; use one that writes JSON where such values are needed.",
    ),
    Explanation(
        D.UNCLOSED_REASONING,
        "Thinking was opened and never closed, though nothing cut the answer.",
        "<think>\nThe user wants the weather, so I call get_weather",
        "The end of thinking was skipped, or the server stripped it.",
        "Check the server's reasoning parser, then compare with the control.",
    ),
    Explanation(
        D.CALL_IN_REASONING,
        "A call stands inside thinking, where no client looks for one.",
        '<think><tool_call>\n{"name": "get_weather", "arguments": {}}\n</tool_call></think>',
        "The closing tag of thinking came too late, or was never drafted.",
        "Compare with the control; a reasoning parser that splits at the wrong place looks the same.",
    ),
    Explanation(
        D.MARKUP_IN_CONTENT,
        "A server that parses calls left the markup of one in the text.",
        'content: "<tool_call>{\\"name\\": …"   tool_calls: []',
        "The server's tool parser does not fit the model, or gave up on a broken block.",
        "Check the server's tool-call parser option; ask in prompted mode to see the raw text.",
    ),
    Explanation(
        D.MARKUP_IN_NAME,
        "The name of a function holds markup.",
        'name: "get_weather</function>"',
        "A server's parser that took too much, or a repeated token.",
        "Ask in prompted mode to see the raw text: is it the model or the parser?",
    ),
    Explanation(
        D.MARKUP_IN_ARGUMENTS,
        "Arguments that a server parsed hold tags of the dialect.",
        'arguments: {"city": "Oslo</parameter>"}',
        "A server's parser that took too much; often one that cannot take several tokens in one delta.",
        "Ask in prompted mode to see the raw text; report the server's parser if that is clean.",
    ),
)

_JSON = (
    Explanation(
        D.TRUNCATED_JSON,
        "JSON is valid so far and ends early, in a block that was closed.",
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Os\n</tool_call>',
        "Tokens left out before the closing tag.",
        _COMPARE,
    ),
    Explanation(
        D.INVALID_JSON,
        "The text of a call is no JSON, by RFC 8259 to the letter.",
        '{"name": "set_alarm", "arguments": {"minute": 05}}',
        "A leading zero, single quotes, a trailing comma, None or NaN: a model's habit; or a token lost.",
        "See whether the baseline does it too. New under speculation and reproduced, it is worth a report.",
    ),
    Explanation(
        D.TRAILING_DATA,
        "After the call's JSON stands something else in the same block.",
        '{"name": "get_weather", "arguments": {"city": "Oslo"}}}',
        "A brace too many (a repeated token), or a second call in one block.",
        _COMPARE,
    ),
    Explanation(
        D.DUPLICATE_KEY,
        "A key stands twice in one object; readers disagree on which value counts.",
        '{"name": "get_weather", "name": "get_weather", "arguments": {}}',
        "An immediate repeat is typical of wrongly accepted draft tokens.",
        _COMPARE,
    ),
    Explanation(
        D.NOT_AN_OBJECT,
        "What should be a call is JSON, and no object.",
        '<tool_call>\n["get_weather", {"city": "Oslo"}]\n</tool_call>',
        "A model that writes another format, or a server that returns one.",
        "See whether the baseline does it too; is the dialect the model's own?",
    ),
    Explanation(
        D.UNKNOWN_MEMBER,
        "A call has a member beside those of its format.",
        '{"name": "get_weather", "arguments": {}, "city": "Oslo"}',
        "Arguments that slipped out of their object, often after a brace too many.",
        "See whether the baseline does it too.",
    ),
)

_NAMES = (
    Explanation(
        D.MISSING_NAME,
        "A call names no function.",
        '{"arguments": {"city": "Oslo"}}',
        "Tokens left out, or a model that writes another format.",
        _COMPARE,
    ),
    Explanation(
        D.NAME_NOT_STRING,
        "The name of a function is no string.",
        '{"name": {"function": "get_weather"}, "arguments": {}}',
        "A model that writes another format.",
        "Is the dialect the model's own?",
    ),
    Explanation(
        D.NAME_IS_EXPRESSION,
        "The name holds the arguments, as an expression.",
        '{"name": "get_weather(location=\'Boston\')", "arguments": {}}',
        "Known of n-gram speculation: a draft copied from code in the prompt.",
        "Reproduced, it is a bug worth reporting; keep speculation off for tool calls until it is mended.",
    ),
    Explanation(
        D.INVALID_NAME,
        "A name is not declared, and has not even the form of one.",
        '{"name": "get weather", "arguments": {}}',
        "Tokens lost or repeated inside the name.",
        _COMPARE,
    ),
    Explanation(
        D.UNDECLARED_FUNCTION,
        "A well-formed name that no tool has.",
        '{"name": "get_forecast", "arguments": {}}   (declared: get_weather)',
        "Often an ordinary flip of meaning at a near-tie; sometimes a token lost inside the name.",
        "Weigh it against the fixes and the control's churn.",
    ),
)

_ARGUMENTS = (
    Explanation(
        D.MISSING_ARGUMENTS,
        "A call has no arguments, not even {}.",
        '{"name": "get_weather"}',
        "An end accepted too early, or a model's habit for functions without parameters.",
        "See whether the baseline does it too.",
    ),
    Explanation(
        D.ARGUMENTS_NOT_OBJECT,
        "Arguments are null, a list or a scalar.",
        '{"name": "get_weather", "arguments": "Oslo"}',
        "A model that leaves out the parameter's name.",
        "See whether the baseline does it too.",
    ),
    Explanation(
        D.ARGUMENTS_EMPTY_STRING,
        "Arguments are an empty string.",
        'function: {"name": "get_time", "arguments": ""}',
        "Some servers send it for a call without arguments.",
        "If the baseline's server does it too, clients need to take it; else compare versions.",
    ),
    Explanation(
        D.ARGUMENTS_DOUBLE_ENCODED,
        "Arguments are a string that holds JSON.",
        '{"name": "get_weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}',
        "A model trained on the API's form, or a server that encodes twice.",
        "See whether the baseline does it too.",
    ),
    Explanation(
        D.DUPLICATE_PARAMETER,
        "A parameter stands twice in one call.",
        "<parameter=city>Oslo</parameter>\n<parameter=city>Oslo</parameter>",
        "A repeat, typical of wrongly accepted draft tokens.",
        _COMPARE,
    ),
    Explanation(
        D.SCHEMA_MISSING_REQUIRED,
        "A required parameter is not there.",
        "get_weather {}   (required: city)",
        "A flip of meaning; or a server's parser that closed a cut call artificially.",
        "Look at the tokens: an answer at the cap that looks whole may have been cut.",
    ),
    Explanation(
        D.SCHEMA_UNEXPECTED,
        "A parameter is there that the schema forbids.",
        'get_weather {"city": "Oslo", "country": "NO"}   (additionalProperties: false)',
        "An ordinary flip of meaning.",
        "Weigh it against the fixes and the control's churn.",
    ),
    Explanation(
        D.SCHEMA_TYPE,
        "A value has another type than the schema declares.",
        'get_weather {"city": "Oslo", "days": "three"}   (days: integer)',
        "An ordinary flip of meaning.",
        "Weigh it against the fixes and the control's churn.",
    ),
    Explanation(
        D.SCHEMA_ENUM,
        "A value is none of those that the schema lists.",
        'get_weather {"unit": "kelvin"}   (celsius, fahrenheit)',
        "An ordinary flip of meaning.",
        "Weigh it against the fixes and the control's churn.",
    ),
    Explanation(
        D.SCHEMA_OTHER,
        "A value breaks another rule of the schema: a bound, a pattern, a length.",
        'set_alarm {"hour": 25}   (maximum: 23)',
        "An ordinary flip of meaning.",
        "Weigh it against the fixes and the control's churn.",
    ),
)

_SERVER = (
    Explanation(
        D.SERVER_PARSE_FAILURE,
        "The server answered an error that says it could not parse what its own model wrote.",
        'HTTP 500: "Failed to parse input at pos 34: <tool_call>{\\"name\\"…"',
        "Broken output, or a call that the cap cut, in a server that parses strictly.",
        "It is asked again at a larger budget; if it persists, ask in prompted mode to see the raw text.",
    ),
    Explanation(
        D.LOST_OUTPUT,
        "Many tokens were written, and hardly any text and no call came back.",
        "completion_tokens 412, content null, tool_calls []",
        "The server's parser took the output and dropped it.",
        "Ask in prompted mode to see the raw text; report the server's parser.",
    ),
)

DEFECTS: tuple[Group, ...] = (
    Group("Defects of markup", "Class `syntax`: a client could not dispatch it.", _MARKUP),
    Group("Defects of JSON", "Class `syntax`.", _JSON),
    Group("Defects of names", "Class `syntax`, but `undeclared_function`: class `contract`.", _NAMES),
    Group("Defects of arguments", "Class `syntax`; the `schema_…` codes are class `contract`.", _ARGUMENTS),
    Group(
        "Defects of the server's parser", "Class `syntax`: what a server did to its model's text.", _SERVER
    ),
)
