"""Cases about how answers end: cuts that are hidden, and cuts that are none."""

import json

from ..scripted import answer, json_reply, tool_call
from .fooling import (
    CAP,
    CAP_ONLY,
    HARD,
    NEEDED,
    Case,
    arguments_of,
    block,
    budget_of,
    native,
    number_of,
    on_hard,
    right,
    right_native,
    saying,
    seen_so_far,
)

NATIVE = {"mode": "native"}


def with_usage(reply, usage):
    return json_reply({**json.loads(reply.body), "usage": usage})


def hidden_cut(reason):
    """Native: the first argument is there, the second was cut off, and the server closed the braces."""

    def reply(request):
        if budget_of(request) >= NEEDED:
            return right_native(request, completion_tokens=NEEDED)
        closed = tool_call("get_weather", {"city": f"City{number_of(request)}"})
        return native(request, closed, finish_reason=reason, completion_tokens=budget_of(request))

    return on_hard(reply, right_native)


def closed_at_the_cap(arguments, reason, *earlier):
    """Native: whatever was missing of the arguments, the server closed them as these."""

    def reply(request):
        if budget_of(request) >= NEEDED:
            return right_native(request, completion_tokens=NEEDED)
        closed = tool_call("get_weather", arguments)
        return native(request, *earlier, closed, finish_reason=reason, completion_tokens=budget_of(request))

    return on_hard(reply, right_native)


def cut_text(reason, **keywords):
    return on_hard(
        lambda r: seen_so_far(
            r, NEEDED, block(arguments_of(r)), finish_reason="stop" if budget_of(r) >= NEEDED else reason
        ),
        lambda r: right(r, **keywords),
    )


def early_length(request):
    """Stopped after 10 of 100 tokens, in the middle of a wrong call; right when it is asked again."""
    if budget_of(request) > CAP:
        return right(request)
    return answer(block(arguments_of(request, city="Elsewhere")), "length", completion_tokens=10)


def uncounted(request):
    """Never finishes, and its server counts nothing."""
    text = "".join(f"Point {n}: think again. " for n in range(budget_of(request)))
    return with_usage(answer(text, "length"), {"prompt_tokens": 0, "completion_tokens": 0})


ENDINGS = [
    # cuts
    Case(
        "a cut call called tool_calls",
        "A call that ends at the cap with a parameter missing is the cap's, whatever the reason says.",
        hidden_cut("tool_calls"),
        decision="pass",
        run=NATIVE,
        **CAP_ONLY,
    ),
    Case(
        "a cut call called stop",
        "The same under `stop`.",
        hidden_cut("stop"),
        decision="pass",
        run=NATIVE,
        **CAP_ONLY,
    ),
    Case(
        "a cut call that lacks what its schema requires",
        "A call that the server closed at the cap breaks its schema because of the cut.",
        closed_at_the_cap("{}", "length"),
        decision="pass",
        run=NATIVE,
        **CAP_ONLY,
    ),
    Case(
        "the same, called tool_calls",
        "The reason says nothing of the cut; the count does.",
        closed_at_the_cap('{"days": 3}', "tool_calls"),
        decision="pass",
        run=NATIVE,
        **CAP_ONLY,
    ),
    Case(
        "a cut before any argument, called tool_calls",
        "An empty string of arguments at the cap is what the cut left.",
        closed_at_the_cap("", "tool_calls"),
        decision="pass",
        run=NATIVE,
        **CAP_ONLY,
    ),
    Case(
        "a broken call before the one that was cut",
        "What the cut explains of the last call it does not explain of an earlier one.",
        closed_at_the_cap("{}", "length", tool_call("get_news", {"city": 5, "days": 3})),
        causes={"malformed": 8},
        codes={"schema_type": 8},
        run=NATIVE,
    ),
    Case(
        "a call that breaks its schema, exactly at the cap",
        "The same broken call at the larger budget was not cut by the smaller one.",
        on_hard(
            lambda r: native(r, tool_call("get_weather", {"days": 3}), completion_tokens=CAP), right_native
        ),
        causes={"malformed": 8},
        codes={"schema_missing_required": 8},
        run=NATIVE,
    ),
    Case(
        "a cut text called stop",
        "Text that ends inside a call at the cap was cut.",
        cut_text("stop"),
        decision="pass",
        **CAP_ONLY,
    ),
    Case(
        "right at the doubled budget only",
        "An answer that needs more than the cap is broken by the cap, and counted as such.",
        cut_text("length"),
        decision="pass",
        **CAP_ONLY,
    ),
    Case(
        "right at the doubled budget only, and the gate fails on it",
        "Where the plan says so, what the cap breaks decides.",
        cut_text("length"),
        gate={"cap": "fail"},
        **CAP_ONLY,
    ),
    Case(
        "a wrong call before the cut",
        "A larger budget does not launder a broken call that stands before the place of the cut.",
        on_hard(
            lambda r: (
                right(r)
                if budget_of(r) > CAP
                else answer(block('{"city": 05}') + "<tool_call>", "length", completion_tokens=CAP)
            )
        ),
        causes={"malformed": 8},
        codes={"invalid_json": 8},
    ),
    Case(
        "length long before the cap",
        "Ten tokens of a hundred were not cut by the cap, and asking again is no second chance.",
        on_hard(early_length),
        causes={"unresolved": 8},
        codes={"server_limit": 8},
    ),
    Case(
        "a limit of the server's own",
        "The same length at both budgets is not the cap's doing.",
        saying(lambda r: block(arguments_of(r))[:-20], finish_reason="length", completion_tokens=40),
        causes={"unresolved": 8},
        codes={"server_limit": 8},
    ),
    Case(
        "an answer that never ends, uncounted",
        "A usage of zero under a long text counted nothing: no limit of the server's own is read from it.",
        on_hard(uncounted),
        causes={"unresolved": 8},
        codes={"still_truncated": 8},
    ),
    Case(
        "a loop into the cap",
        "A model that repeats itself for ever is broken; no budget would cure it.",
        on_hard(lambda r: answer("so it goes, " * budget_of(r), "length", completion_tokens=budget_of(r))),
        causes={"real_change": 8},
        codes={"degenerate_loop": 8},
    ),
    Case(
        "a right call, and text without end",
        "Everything due was called, and what runs on into every cap is the model's.",
        on_hard(
            lambda r: answer(
                block(arguments_of(r)) + "".join(f" {n} bottles," for n in range(budget_of(r))),
                "length",
                completion_tokens=budget_of(r),
            )
        ),
        causes={"real_change": 8},
        codes={"overrun": 8},
    ),
    Case(
        "thinking into the cap",
        "Thinking that the cap cut, and that comes to its end at double, is the cap's.",
        on_hard(
            lambda r: (
                right_native(r, reasoning="Hm.", completion_tokens=NEEDED)
                if budget_of(r) >= NEEDED
                else answer(None, "length", reasoning="Hm, let me", completion_tokens=budget_of(r))
            ),
            right_native,
        ),
        decision="pass",
        causes={"cap": 8},
        codes={"cap_reasoning": 8},
        run=NATIVE,
    ),
    # usage
    Case(
        "a cut without usage",
        "`length` alone tells where nothing was counted.",
        on_hard(
            lambda r: right(r) if budget_of(r) > CAP else answer("<tool_call>\n{", "length", usage=False)
        ),
        decision="pass",
        **CAP_ONLY,
    ),
    Case(
        "a hidden cut without usage",
        "With no count and a false reason nobody can tell a cut, and the broken call counts.",
        on_hard(lambda r: right(r) if budget_of(r) > CAP else answer("<tool_call>\n{", "stop", usage=False)),
        causes={"malformed": 8},
        codes={"unclosed_block": 8},
    ),
    Case(
        "usage in words",
        "A count that is no number was not told; the answers stand.",
        lambda r: with_usage(right(r), {"prompt_tokens": "many", "completion_tokens": "ten"}),
        decision="pass",
    ),
    Case(
        "a negative usage",
        "Less than nothing was not counted, and hides no cut.",
        on_hard(
            lambda r: with_usage(
                right(r) if budget_of(r) > CAP else answer("<tool_call>\n{", "length"),
                {"prompt_tokens": -1, "completion_tokens": -1},
            )
        ),
        decision="pass",
        **CAP_ONLY,
    ),
    Case(
        "usage above every budget",
        "The same calls and the same count at twice the budget were cut by neither: no regression.",
        lambda r: right_native(r, completion_tokens=500),
        decision="pass",
        run=NATIVE,
    ),
]

assert HARD == 8, "the counts above are those of the hard samples"
