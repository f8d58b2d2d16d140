"""Texts of GLM whose markup is broken, and good ones; `⟦⟧` stand around expected spans."""

NOW = "<tool_call>now</tool_call>"
CITY = "<arg_key>city</arg_key><arg_value>Oslo</arg_value>"
OSLO = f"<tool_call>get_weather{CITY}</tool_call>"
LINES = "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>"
UNCLOSED = ("unclosed_block", "the block is not closed: the text ends inside it")
SAME_TAG = '"</arg_value>" may end the value or belong to it: the same tag follows'
SPACING = "the templates write a newline after the name, each key and each value, or none at all"


def weather(body: str) -> str:
    return f"<tool_call>get_weather{body}</tool_call>"


def city(value: str) -> str:
    return weather(f"<arg_key>city</arg_key><arg_value>{value}</arg_value>")


def days(value: str) -> str:
    return weather(f"{CITY}<arg_key>days</arg_key><arg_value>{value}</arg_value>")


# (claim, marked text, names of the calls, [(code, message)] in the order of the marks)
BROKEN_MARKUP = [
    # blocks
    ("a text that ends inside the name is open", "⟦<tool_call>⟧get_wea", [], [UNCLOSED]),
    ("a text that ends after the name is open", "⟦<tool_call>⟧get_weather\n", [], [UNCLOSED]),
    ("a text that ends inside a key is open", "⟦<tool_call>⟧get_weather<arg_key>ci", [], [UNCLOSED]),
    (
        "a text that ends before a value is open",
        "⟦<tool_call>⟧get_weather<arg_key>city</arg_key><arg_",
        [],
        [UNCLOSED],
    ),
    (
        "a text that ends inside a value is open",
        "⟦<tool_call>⟧get_weather<arg_key>city</arg_key><arg_value>Os",
        [],
        [UNCLOSED],
    ),
    ("a text that ends inside the closing tag is open", f"⟦<tool_call>⟧{OSLO[11:-3]}", [], [UNCLOSED]),
    (
        "a defect that is complete before the end stands beside unclosed_block",
        f"⟦<tool_call>⟧get_weather{CITY}⟦<arg_key>city</arg_key>⟧<arg_value>Bergen</arg_value><arg_k",
        [],
        [UNCLOSED, ("duplicate_parameter", 'the parameter "city" stands twice')],
    ),
    (
        "a name that is complete before the end is judged",
        "⟦<tool_call>⟧⟦get_tides⟧<arg_key>ci",
        [],
        [UNCLOSED, ("undeclared_function", 'the function "get_tides" is not declared (get_weather, now)')],
    ),
    (
        "a block whose opening tag is missing is a stray close, once",
        f"get_weather{CITY}⟦</tool_call>⟧",
        [],
        [("stray_close", "a closing tag stands without an open block")],
    ),
    (
        "pairs outside of any block are malformed",
        f"get_weather⟦<arg_key>city</arg_key>⟧{CITY[23:]}",
        [],
        [("malformed_markup", '"<arg_key>city</arg_key>" begins a call outside of <tool_call>')],
    ),
    (
        "a new block before the last one closed is nested, and kept",
        f"<tool_call>get_weather{CITY}⟦<tool_call>⟧{NOW[11:]}",
        ["now"],
        [("nested_open", "a block opens before the one around it is closed")],
    ),
    (
        "a new block right after a name is nested, and kept",
        f"<tool_call>get_weather\n⟦<tool_call>⟧{OSLO[11:]}",
        ["get_weather"],
        [("nested_open", "a block opens before the one around it is closed")],
    ),
    (
        "a block without a body is empty",
        "⟦<tool_call>\n</tool_call>⟧",
        [],
        [("empty_block", "the block is empty")],
    ),
    (
        "a call inside thinking is none",
        f"<think>\n⟦<tool_call>get_weather<arg_key>⟧{CITY[9:]}</tool_call></think>{NOW}",
        ["now"],
        [("call_in_reasoning", "a call begins inside thinking, where nobody looks for one")],
    ),
    # markup
    (
        "the first opening tag of a key is missing",
        "<tool_call>grep_toolpattern⟦</arg_key>⟧<arg_value>x</arg_value></tool_call>",
        [],
        [("malformed_markup", '"</arg_key>" stands without its <arg_key>')],
    ),
    (
        "a later opening tag of a key is missing",
        weather(f"{CITY}days⟦</arg_key>⟧<arg_value>3</arg_value>"),
        [],
        [("malformed_markup", '"</arg_key>" stands without its <arg_key>')],
    ),
    (
        "the opening tag of a value is missing",
        weather("<arg_key>city</arg_key>Oslo⟦</arg_value>⟧"),
        [],
        [("malformed_markup", '"</arg_value>" stands without its <arg_value>')],
    ),
    (
        "the closing tag of a key is missing",
        weather("⟦<arg_key>⟧city<arg_value>Oslo</arg_value>"),
        [],
        [("malformed_markup", '<arg_key> is not closed before "<arg_value>"')],
    ),
    (
        "the closing tag of a key is doubled",
        weather("<arg_key>path</arg_key>⟦</arg_key>⟧<arg_value>x</arg_value>"),
        [],
        [("malformed_markup", '"</arg_key>" stands where <arg_value> should')],
    ),
    (
        "the opening tag of a key is doubled",
        weather("<arg_key>⟦<arg_key>⟧path</arg_key><arg_value>x</arg_value>"),
        [],
        [("malformed_markup", '"<arg_key>" stands where the key should')],
    ),
    (
        "the opening tag of a value is doubled",
        weather("<arg_key>city</arg_key>⟦<arg_value>⟧<arg_value>Oslo</arg_value>"),
        [],
        [("malformed_markup", '"<arg_value>" is not closed before "<arg_value>"')],
    ),
    (
        "a value that is not closed before the next key",
        weather(f"<arg_key>days</arg_key>⟦<arg_value>⟧3{CITY}"),
        [],
        [("malformed_markup", '"<arg_value>" is not closed before "<arg_key>"')],
    ),
    (
        "a value that is not closed before the block is",
        weather("<arg_key>city</arg_key>⟦<arg_value>⟧Oslo"),
        [],
        [("malformed_markup", '"<arg_value>" is not closed before "</tool_call>"')],
    ),
    (
        "a closing tag of a value without its bracket",
        weather("<arg_key>city</arg_key><arg_value>Oslo⟦</arg_value⟧"),
        [],
        [("malformed_markup", '"</arg_value" is no closing tag of a value')],
    ),
    (
        "a key without a value",
        weather("⟦<arg_key>city</arg_key>⟧"),
        [],
        [("malformed_markup", '"<arg_key>city</arg_key>" has no value')],
    ),
    (
        "a key without a value before another",
        weather(f"⟦<arg_key>days</arg_key>⟧\n{CITY}"),
        [],
        [("malformed_markup", '"<arg_key>days</arg_key>" has no value')],
    ),
    (
        "an empty key",
        weather("⟦<arg_key></arg_key>⟧<arg_value>Oslo</arg_value>"),
        [],
        [("malformed_markup", '"<arg_key></arg_key>" names no parameter')],
    ),
    (
        "a value without a key",
        weather("⟦<arg_value>⟧Oslo</arg_value>"),
        [],
        [("malformed_markup", '"<arg_value>" stands where <arg_key> or </tool_call> should')],
    ),
    (
        "a tag that is not of the grammar",
        weather(f"{CITY}⟦</arg>⟧"),
        [],
        [("malformed_markup", '"</arg>" stands where <arg_key> or </tool_call> should')],
    ),
    # text between
    (
        "a newline that is written as two characters",
        f"<tool_call>get_weather\n{CITY}⟦\\n⟧</tool_call>",
        [],
        [("text_between_markup", 'the text "\\\\n" stands where <arg_key> or </tool_call> should')],
    ),
    (
        "prose after the name",
        f"<tool_call>get_weather\n⟦as you asked⟧\n{CITY}</tool_call>",
        [],
        [("text_between_markup", 'the text "as you asked" stands where <arg_key> or </tool_call> should')],
    ),
    (
        "prose between a key and its value",
        weather("<arg_key>city</arg_key> ⟦is⟧ <arg_value>Oslo</arg_value>"),
        [],
        [("text_between_markup", 'the text "is" stands where <arg_value> should')],
    ),
    (
        "prose after the last value",
        weather(f"{CITY} ⟦please⟧ "),
        [],
        [("text_between_markup", 'the text "please" stands where <arg_key> or </tool_call> should')],
    ),
]

GOOD = [
    ("variant B", OSLO, ["get_weather"], ""),
    ("variant A", LINES, ["get_weather"], ""),
    ("no arguments in variant B", NOW, ["now"], ""),
    ("no arguments in variant A", "\n<tool_call>now\n</tool_call>", ["now"], "\n"),
    ("two calls, glued", f"{OSLO}{NOW}", ["get_weather", "now"], ""),
    (
        "two calls in lines, with prose",
        f"Look.\n{LINES}\n<tool_call>now\n</tool_call>",
        ["get_weather", "now"],
        "Look.\n\n",
    ),
    ("thinking glued to a call", f"<think>hm</think>{OSLO}", ["get_weather"], ""),
    ("prose that mentions a tag", "A call stands in `<tool_call>`, a key in `<arg_key>`.", [], None),
    ("prose that mentions a tag without quotes", "The <arg_key> tag holds the key.", [], None),
    ("a mention that the text ends in", "Close it with `</tool_call>", [], None),
    ("a mention inside thinking", f"<think>I write <arg_key> here.</think>{NOW}", ["now"], ""),
    ("the beginning of an opening tag at the end", f"{NOW}<tool_ca", ["now"], "<tool_ca"),
    ("nothing at all", "", [], ""),
]

# Strings are what stands there, whitespace, quotation marks and entities included.
TEXTS = [
    "Oslo",
    "",
    " Oslo\n",
    "\n\n",
    "5",
    "true",
    "null",
    '"Oslo"',
    "&lt;Oslo&gt;",
    "<b>Oslo</b> </arg>",
    "\"<arg_key>\" '<tool_call>' `</tool_call>`",
    "a < b </arg_val",
    "<parameter=x> [TOOL_CALLS]",
]
