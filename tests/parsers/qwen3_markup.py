"""Texts of Qwen3 XML whose markup is broken, and good ones; `⟦⟧` stand around expected spans."""

NOW = "<tool_call>\n<function=now>\n</function>\n</tool_call>"
CITY = "<parameter=city>\nOslo\n</parameter>\n"
OSLO = f"<tool_call>\n<function=get_weather>\n{CITY}</function>\n</tool_call>"
UNCLOSED = ("unclosed_block", "the block is not closed: the text ends inside it")


def weather(body: str) -> str:
    return f"<tool_call>\n<function=get_weather>\n{body}</function>\n</tool_call>"


def city(value: str) -> str:
    return weather(f"<parameter=city>\n{value}\n</parameter>\n")


def days(value: str) -> str:
    return weather(f"{CITY}<parameter=days>\n{value}\n</parameter>\n")


def named(name: str) -> str:
    return f"<tool_call>\n<function={name}>\n{CITY}</function>\n</tool_call>"


# (claim, marked text, names of the calls, [(code, message)] in the order of the marks)
BROKEN_MARKUP = [
    # blocks
    ("a text that ends inside a value is open", f"⟦<tool_call>⟧{OSLO[11:60]}", [], [UNCLOSED]),
    (
        "a text that ends inside a closing tag is open",
        "⟦<tool_call>⟧\n<function=now>\n</functi",
        [],
        [UNCLOSED],
    ),
    (
        "a whole function without its closing tag is no call",
        "⟦<tool_call>⟧\n<function=now>\n</function>\n",
        [],
        [UNCLOSED],
    ),
    (
        "a defect that is complete before the end stands beside unclosed_block",
        f"⟦<tool_call>⟧\n<function=get_weather>\n{CITY}<parameter=days>\n0⟦5⟧\n</parameter>\n<para",
        [],
        [UNCLOSED, ("invalid_json", "get_weather: $.days: a number must not begin with 0 and another digit")],
    ),
    (
        "a name that is complete before the end is judged",
        "⟦<tool_call>⟧\n<function=⟦get_tides⟧>\n<parameter=city>\nOs",
        [],
        [UNCLOSED, ("undeclared_function", 'the function "get_tides" is not declared (get_weather, now)')],
    ),
    (
        "a block whose opening tag is missing is a stray close, once",
        f"{OSLO[12:-12]}⟦</tool_call>⟧",
        [],
        [("stray_close", "a closing tag stands without an open block")],
    ),
    (
        "a function outside of any block is malformed",
        f"Sure: ⟦<function=get_weather>⟧\n{CITY}</function>",
        [],
        [("malformed_markup", '"<function=get_weather>" begins a call outside of <tool_call>')],
    ),
    (
        "a new block before the last one closed is nested, and kept",
        f"<tool_call>\n<function=now>\n</function>\n⟦<tool_call>⟧{OSLO[11:]}",
        ["get_weather"],
        [("nested_open", "a block opens before the one around it is closed")],
    ),
    (
        "a new block on a line of its own inside a value is nested, and kept",
        f"{OSLO[:60]}\n⟦<tool_call>⟧{NOW[11:]}",
        ["now"],
        [("nested_open", "a block opens before the one around it is closed")],
    ),
    (
        "a doubled pair of tags is one defect",
        f"<tool_call>\n⟦<tool_call>⟧{NOW[11:]}\n</tool_call>",
        ["now"],
        [("nested_open", "a block opens before the one around it is closed")],
    ),
    (
        "a block without a body is empty",
        "⟦<tool_call></tool_call>⟧",
        [],
        [("empty_block", "the block is empty")],
    ),
    (
        "a call inside thinking is none",
        f"<think>\n⟦<tool_call>\n<function=⟧now>\n</function>\n</tool_call>\n</think>\n\n{NOW}",
        ["now"],
        [("call_in_reasoning", "a call begins inside thinking, where nobody looks for one")],
    ),
    # markup
    (
        "a parameter that is not closed before the next one",
        weather(f"⟦<parameter=days>⟧\n3\n{CITY}"),
        [],
        [("malformed_markup", '"<parameter=days>" is not closed before "<parameter=city>"')],
    ),
    (
        "a parameter that is not closed before the function is",
        weather("⟦<parameter=city>⟧\nOslo\n"),
        [],
        [("malformed_markup", '"<parameter=city>" is not closed before "</function>"')],
    ),
    (
        "a parameter that is not closed before the function is, on one line",
        "<tool_call><function=get_weather>⟦<parameter=city>⟧Oslo</function></tool_call>",
        [],
        [("malformed_markup", '"<parameter=city>" is not closed before "</function>"')],
    ),
    (
        "a parameter that is not closed before the block is",
        "<tool_call>\n<function=get_weather>\n⟦<parameter=city>⟧\nOslo\n</tool_call>",
        [],
        [("malformed_markup", '"<parameter=city>" is not closed before "</tool_call>"')],
    ),
    (
        "a function that is not closed",
        f"<tool_call>\n<function=get_weather>\n{CITY}⟦</tool_call>⟧",
        [],
        [("malformed_markup", '"</tool_call>" stands where <parameter=KEY> or </function> should')],
    ),
    (
        "a function tag without its bracket",
        f"<tool_call>\n⟦<function=get_weather⟧\n{CITY}</function>\n</tool_call>",
        [],
        [("malformed_markup", '"<function=get_weather" lacks its closing bracket')],
    ),
    (
        "a function tag without its bracket, and the parameter glued to it",
        f"<tool_call>\n⟦<function=get_weather⟧{CITY}</function>\n</tool_call>",
        [],
        [("malformed_markup", '"<function=get_weather" lacks its closing bracket')],
    ),
    (
        "a function tag without its equals sign",
        "<tool_call>\n⟦<function>⟧now</function>\n</tool_call>",
        [],
        [("malformed_markup", '"<function>" stands where <function=NAME> should')],
    ),
    (
        "a parameter tag without its bracket",
        weather("⟦<parameter=city⟧\nOslo\n</parameter>\n"),
        [],
        [("malformed_markup", '"<parameter=city" lacks its closing bracket')],
    ),
    (
        "a parameter tag without its equals sign",
        weather("⟦<parameter>⟧\nOslo\n</parameter>\n"),
        [],
        [("malformed_markup", '"<parameter>" stands where <parameter=KEY> or </function> should')],
    ),
    (
        "a doubled beginning of a parameter tag",
        weather("⟦<parameter=parameter=city>⟧\nOslo\n</parameter>\n"),
        [],
        [("malformed_markup", '"<parameter=parameter=city>" names no parameter')],
    ),
    (
        "a parameter tag with quotation marks",
        weather('⟦<parameter="city">⟧\nOslo\n</parameter>\n'),
        [],
        [("malformed_markup", '"<parameter=\\"city\\">" names no parameter')],
    ),
    (
        "a parameter tag without a key",
        weather("⟦<parameter=>⟧\nOslo\n</parameter>\n"),
        [],
        [("malformed_markup", '"<parameter=>" names no parameter')],
    ),
    (
        "a closing tag that leaks into the value",
        weather("<parameter=city>\nOslo\n⟦</parameter⟧\n</parameter>\n"),
        [],
        [("malformed_markup", '"</parameter" is no closing tag of a value')],
    ),
    (
        "a parameter without a function",
        f"<tool_call>\n⟦<parameter=city>⟧{CITY[16:]}</tool_call>",
        [],
        [("malformed_markup", '"<parameter=city>" stands where <function=NAME> should')],
    ),
    (
        "a second function in one block",
        "<tool_call>\n<function=now>\n</function>\n⟦<function=now>⟧\n</function>\n</tool_call>",
        [],
        [("malformed_markup", '"<function=now>" stands where </tool_call> should')],
    ),
    (
        "a function that is closed twice",
        "<tool_call>\n<function=now>\n</function>\n⟦</function>⟧\n</tool_call>",
        [],
        [("malformed_markup", '"</function>" stands where </tool_call> should')],
    ),
    # text between
    (
        "prose before the function",
        "<tool_call>\n⟦I look.⟧\n<function=now>\n</function>\n</tool_call>",
        [],
        [("text_between_markup", 'the text "I look." stands where <function=NAME> should')],
    ),
    (
        "prose between two parameters",
        weather(f"{CITY}⟦and⟧\n<parameter=days>\n3\n</parameter>\n"),
        [],
        [("text_between_markup", 'the text "and" stands where <parameter=KEY> or </function> should')],
    ),
    (
        "prose after the function",
        "<tool_call>\n<function=now>\n</function>\n⟦as you asked⟧\n</tool_call>",
        [],
        [("text_between_markup", 'the text "as you asked" stands where </tool_call> should')],
    ),
]

GOOD = [
    ("one call", OSLO, ["get_weather"], ""),
    ("two calls with prose before", f"Look:\n{OSLO}\n{NOW}", ["get_weather", "now"], "Look:\n\n"),
    ("prose after a call", f"{NOW}\nThere.", ["now"], "\nThere."),
    ("a call without newlines", OSLO.replace("\n", ""), ["get_weather"], ""),
    ("prose that mentions a tag", "I write `<function=now>` in `<tool_call>`.", [], None),
    (
        "prose that mentions a tag without quotes",
        "The <function=x> tag names it; </parameter> ends it.",
        [],
        None,
    ),
    ("a mention that the text ends in", "Close it with `</tool_call>", [], None),
    ("a mention inside thinking", f"<think>\nI write <function=f>.\n</think>\n\n{NOW}", ["now"], "\n\n"),
    ("thinking glued to a call", f"<think>hm</think>{NOW}", ["now"], ""),
    ("the beginning of an opening tag at the end", f"{NOW}<tool_ca", ["now"], "<tool_ca"),
    ("JSON in prose that is no call", '{"name": "Oslo"}', [], None),
    ("nothing at all", "", [], ""),
]

# (raw text between `<parameter=city>` and its closing tag, value)
TEXTS = [
    ("\nOslo\n", "Oslo"),
    ("Oslo", "Oslo"),
    ("\n\nOslo\n\n", "\nOslo\n"),
    ("\n  Oslo \n", "  Oslo "),
    ("\n\n", ""),
    ("\n", ""),
    ("", ""),
    ("\n5\n", "5"),
    ("\nTrue\n", "True"),
    ('\n"Oslo"\n', '"Oslo"'),
    ("\n&lt;Oslo &amp; co&gt;\n", "&lt;Oslo &amp; co&gt;"),
    ("\n<b>Oslo</b> </parameters>\n", "<b>Oslo</b> </parameters>"),
    ("\n\"<parameter=x>\" '</function>' `<tool_call>`\n", "\"<parameter=x>\" '</function>' `<tool_call>`"),
    ('\nif a < b: print("</para")\n', 'if a < b: print("</para")'),
    ("\n[TOOL_CALLS] <arg_key>\n", "[TOOL_CALLS] <arg_key>"),
]
