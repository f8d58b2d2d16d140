"""The larger built-in suites: labels that can be trusted in every dialect, categories that do their job."""

import hashlib
import itertools
import json
import re
from collections import Counter
from difflib import SequenceMatcher
from importlib.resources import files
from pathlib import Path

import pytest
from draftproof.parsers.contract import schema_defects
from draftproof.parsers.dialects import DIALECTS
from draftproof.parsers.result import Call, Span
from draftproof.tasks.builtin import builtin_names, read_builtin
from draftproof.tasks.differences import DifferenceCode
from draftproof.tasks.draw import Draw
from draftproof.tasks.match import compare
from draftproof.tasks.raw_sample import sample_from_json, sample_to_json
from draftproof.tasks.speculation import speculation_samples
from draftproof.tasks.speculation_copies import estimated_tokens
from draftproof.tasks.suite import describe_suites

FOLDER = files("draftproof.tasks").joinpath("suites", "speculation")
RAW = {name: read_builtin(name) for name in ("core", "speculation")}
SAMPLES = [sample_from_json(raw) for suite in RAW.values() for raw in suite]
WITH_CALLS = [sample for sample in SAMPLES if sample.expected.calls]
BY_ID = {sample.id: sample for sample in SAMPLES}

# Three notes about markup hold a dialect's own tags; where values stand raw, some of them cannot be written.
HOLDS_MARKUP = {"core/markup_like-02", "core/markup_like-03", "core/markup_like-04"}
JSON_VALUES = {"hermes", "kimi_k2", "deepseek_v31", "mistral", "llama3_json"}


def arguments_of(call, *, longest):
    """Arguments that are right: the first of each and nothing optional, or the last and everything."""
    return {
        name: values[-1 if longest else 0]
        for name, values in call.arguments.items()
        if longest or name not in call.optional
    }


def right_answer(sample, *, longest=False):
    return [Call(c.name, arguments_of(c, longest=longest), Span(0, 0)) for c in sample.expected.calls]


def last_ask(raw):
    return next(turn["content"] for turn in reversed(raw["messages"]) if turn["role"] == "user")


def earlier_calls(sample):
    for turn in sample.messages:
        yield from turn.get("tool_calls", ())


# What the suites hold


def test_the_suites_are_built_in():
    assert {"core", "speculation", "starter"} <= set(builtin_names())


def test_core_has_a_dozen_categories_of_about_the_same_size():
    counts = Counter(raw["category"] for raw in RAW["core"])
    assert len(counts) == 12
    assert sum(counts.values()) >= 200
    assert min(counts.values()) >= 15


def test_speculation_has_a_category_for_each_mechanism():
    counts = Counter(raw["category"] for raw in RAW["speculation"])
    assert len(counts) == 13
    assert sum(counts.values()) >= 150
    assert min(counts.values()) >= 10


def test_every_category_is_explained():
    text = (Path(__file__).parents[2] / "tasks" / "suites" / "README.md").read_text(encoding="utf-8")
    for suite in describe_suites():
        section = text.partition(f"## `{suite.spec}`")[2].partition("\n## ")[0]
        assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == set(suite.categories)


def test_ids_are_unique_and_carry_the_name_of_the_suite():
    for suite, samples in RAW.items():
        ids = [raw["id"] for raw in samples]
        assert len(set(ids)) == len(ids)
        assert all(one.startswith(f"{suite}/") for one in ids)


def test_no_two_samples_of_core_ask_nearly_the_same():
    asked = [(raw["id"], last_ask(raw).casefold()) for raw in RAW["core"]]
    for (left, text), (right, other) in itertools.combinations(asked, 2):
        matcher = SequenceMatcher(None, text, other, autojunk=False)
        if matcher.real_quick_ratio() >= 0.9 and matcher.quick_ratio() >= 0.9:
            assert matcher.ratio() < 0.9, (left, right)


def test_no_two_samples_of_speculation_are_the_same():
    """Near-copies are its business, copies are not: the valve that is quiet at the end has a history."""
    asked = Counter(json.dumps(raw["messages"]) for raw in RAW["speculation"])
    assert max(asked.values()) == 1


def test_every_tool_that_core_describes_is_offered():
    tools = files("draftproof.tasks").joinpath("suites", "core", "tools.json").read_text(encoding="utf-8")
    offered = {tool["function"]["name"] for raw in RAW["core"] for tool in raw["tools"]}
    assert offered == set(json.loads(tools)["tools"])


def test_changing_one_sample_leaves_the_others_as_they_are():
    for suite, samples in RAW.items():
        changed = read_builtin(suite)
        changed[0]["tools"][0]["function"]["name"] = "other"
        changed[0]["tools"][0]["function"]["parameters"].clear()
        changed[0]["messages"].clear()
        assert changed[1:] == samples[1:]
        assert read_builtin(suite) == samples


# The form of the messages


def test_a_sample_is_written_as_it_was_read():
    for raw in itertools.chain(*RAW.values()):
        assert sample_to_json(BY_ID[raw["id"]]) == raw


def test_every_earlier_call_has_an_id_and_one_result():
    for sample in SAMPLES:
        ids = [call["id"] for call in earlier_calls(sample)]
        answered = [turn["tool_call_id"] for turn in sample.messages if turn["role"] == "tool"]
        assert len(set(ids)) == len(ids)
        assert answered == ids


def test_every_earlier_call_passes_the_schema_of_its_tool():
    for sample in SAMPLES:
        for call in earlier_calls(sample):
            name = call["function"]["name"]
            arguments = json.loads(call["function"]["arguments"])
            assert name in sample.tools.functions
            assert not schema_defects(sample.tools, name, arguments, Span(0, 0))


def test_the_last_turn_is_of_the_user_or_of_a_tool():
    for sample in SAMPLES:
        assert sample.messages[-1]["role"] in {"user", "tool"}


# Right answers are right, in every dialect


@pytest.mark.parametrize("longest", [False, True])
def test_a_right_answer_passes(longest):
    for sample in SAMPLES:
        answer = right_answer(sample, longest=longest)
        assert compare(sample.expected, answer) is None
        for call in answer:
            assert not schema_defects(sample.tools, call.name, call.arguments, Span(0, 0)), sample.id


@pytest.mark.parametrize("name", DIALECTS)
def test_a_right_answer_passes_as_text_of_each_dialect(name):
    """What a dialect cannot write is a defect when it is read, never another value; and it is rare."""
    dialect, skipped = DIALECTS[name], set()
    for sample, longest in itertools.product(WITH_CALLS, (False, True)):
        answer = right_answer(sample, longest=longest)
        text = dialect.render_calls([(call.name, call.arguments) for call in answer])
        parsed = dialect.parse(text, sample.tools)
        if sample.id in HOLDS_MARKUP and parsed.defects:
            skipped.add(sample.id)
            continue
        assert not parsed.defects, (sample.id, parsed.defects)
        assert compare(sample.expected, parsed.calls) is None, sample.id
    assert len(skipped) <= (0 if name in JSON_VALUES else 3)


# Wrong answers are wrong, with the right code


def changed(value):
    match value:
        case bool():
            return not value
        case int() | float():
            return -value - 1
        case str():
            return f"{value} changed"
        case list():
            return [*value, "changed"]
        case dict():
            return {**value, "changed": True}
        case _:
            return "changed"


def test_one_changed_value_is_wrong():
    for sample in WITH_CALLS:
        answer = right_answer(sample)
        for position, call in enumerate(answer):
            for name, value in call.arguments.items():
                other = Call(call.name, {**call.arguments, name: changed(value)}, Span(0, 0))
                wrong = [*answer[:position], other, *answer[position + 1 :]]
                difference = compare(sample.expected, wrong)
                assert difference is not None, (sample.id, name)
                assert difference.code is DifferenceCode.WRONG_ARGUMENTS


def test_one_parameter_too_few_is_wrong():
    for sample in WITH_CALLS:
        first, *others = right_answer(sample)
        for name in first.arguments:
            shorter = {key: value for key, value in first.arguments.items() if key != name}
            difference = compare(sample.expected, [Call(first.name, shorter, Span(0, 0)), *others])
            assert difference is not None
            assert difference.code is DifferenceCode.MISSING_ARGUMENT


def test_one_call_too_few_is_wrong():
    for sample in WITH_CALLS:
        answer = right_answer(sample)
        for position in range(len(answer)):
            difference = compare(sample.expected, answer[:position] + answer[position + 1 :])
            assert difference is not None
            alone = len(answer) == 1
            assert difference.code is (DifferenceCode.NO_CALL if alone else DifferenceCode.MISSING_CALL)


def test_one_call_twice_is_wrong():
    for sample in WITH_CALLS:
        answer = right_answer(sample)
        difference = compare(sample.expected, [*answer, answer[-1]])
        assert difference is not None
        assert difference.code is DifferenceCode.DUPLICATE_CALL


def test_another_tool_is_wrong():
    for sample in WITH_CALLS:
        first, *others = right_answer(sample)
        due = {call.name for call in sample.expected.calls}
        name = next((one for one in sample.tools.functions if one not in due), "another_tool")
        difference = compare(sample.expected, [Call(name, first.arguments, Span(0, 0)), *others])
        assert difference is not None
        assert difference.code is DifferenceCode.WRONG_FUNCTION


def test_any_call_is_wrong_where_none_is_due():
    quiet = [sample for sample in SAMPLES if not sample.expected.calls]
    assert len(quiet) >= 40
    for sample in quiet:
        name = next(iter(sample.tools.functions))
        difference = compare(sample.expected, [Call(name, {}, Span(0, 0))])
        assert difference is not None
        assert difference.code is DifferenceCode.CALL_NOT_DUE


# The seed


def test_the_same_seed_gives_the_same_bytes():
    """On every version of Python and every machine: runs of two digests cannot be compared."""
    written = json.dumps(RAW["speculation"], ensure_ascii=False).encode()
    assert json.dumps(speculation_samples(FOLDER), ensure_ascii=False).encode() == written
    assert hashlib.sha256(written).hexdigest()[:16] == "12328d54185c0a38"


def test_another_seed_gives_other_samples_of_the_same_kinds():
    other = speculation_samples(FOLDER, seed=2)
    assert [raw["id"] for raw in other] == [raw["id"] for raw in RAW["speculation"]]
    assert sum(raw not in RAW["speculation"] for raw in other) > 100
    for raw in other:
        sample = sample_from_json(raw)
        assert compare(sample.expected, right_answer(sample)) is None


def test_streams_of_different_names_are_different():
    left, right = ([Draw(1, name).below(1000) for _ in range(3)] for name in "ab")
    assert left != right
    draw = Draw(1, "a")
    assert len({draw.below(1000) for _ in range(20)}) > 10
    assert sorted(draw.shuffled(range(9))) == list(range(9))
    assert {draw.between(3, 5) for _ in range(60)} == {3, 4, 5}


# The mechanisms


def of_category(category):
    return [raw for raw in RAW["speculation"] if raw["category"] == category]


@pytest.mark.parametrize("category", ["late_change", "edited_code"])
def test_a_changed_copy_begins_as_its_original_goes_on_as_it_and_is_not_it(category):
    for raw in of_category(category):
        ask = last_ask(raw)
        (call,) = raw["expected"]["calls"]
        text = next(reversed(call["arguments"].values()))[0]
        original = ask.partition("\n\n")[2]
        assert text != original
        matcher = SequenceMatcher(None, text, original, autojunk=False)
        assert matcher.ratio() > 0.75, raw["id"]


def test_the_cap_lies_between_the_lengths_around_it():
    lengths = {}
    for raw in of_category("cap_lengths"):
        calls = [(call.name, call.arguments) for call in right_answer(BY_ID[raw["id"]])]
        cap, share = raw["id"].split("-")[1:]
        lengths[int(cap), int(share)] = estimated_tokens(DIALECTS["hermes"].render_calls(calls))
    for cap in (60, 120, 250, 500, 1000):
        assert lengths[cap, 85] < cap < lengths[cap, 105] < lengths[cap, 120] < 1.3 * cap


def test_codes_of_one_list_differ_from_its_first_code_in_one_character():
    for raw in of_category("one_digit_apart"):
        rows = last_ask(raw).partition("\n\n")[0].splitlines()
        codes = [row.partition(": ")[2] for row in rows]
        first = next(one for one in codes if all(_apart(one, other) <= 1 for other in codes))
        assert sorted(_apart(first, other) for other in codes) == [0, *[1] * 7]
        (call,) = raw["expected"]["calls"]
        assert str(next(iter(call["arguments"].values()))[0]) in codes


def _apart(left, right):
    return sum(one != other for one, other in zip(left, right, strict=True))


def test_near_names_share_a_long_beginning():
    for raw in of_category("near_names"):
        names = [tool["function"]["name"] for tool in raw["tools"]]
        assert all(name.startswith(names[0][:19]) for name in names)


def test_repeated_calls_differ_in_one_value():
    for raw in of_category("repeated_calls"):
        calls = raw["expected"]["calls"]
        assert len(calls) >= 3
        for left, right in itertools.pairwise(calls):
            assert left["name"] == right["name"]
            pairs = zip(left["arguments"].values(), right["arguments"].values(), strict=True)
            assert sum(one != other for one, other in pairs) == 1


def test_a_list_that_stops_is_a_part_of_a_longer_one():
    for raw in of_category("lists_that_stop"):
        entries = [line[2:] for line in last_ask(raw).splitlines() if line.startswith("- ")]
        wanted = raw["expected"]["calls"][0]["arguments"]["items"][0]
        start = entries.index(wanted[0])
        assert entries[start : start + len(wanted)] == wanted
        assert start + len(wanted) <= len(entries) - 3
