"""BFCL as a suite: ids and categories as published, what cannot be asked counted, nothing half-run."""

import json
import sys

import pytest
from draftproof.errors import UserError
from draftproof.parsers.result import Call, Span
from draftproof.tasks import bfcl_files
from draftproof.tasks.bfcl_reference import reference_calls
from draftproof.tasks.bfcl_spec import parse_bfcl_spec
from draftproof.tasks.match import compare
from draftproof.tasks.raw_sample import sample_from_json, sample_to_json
from draftproof.tasks.suite import load_suites

from .bfcl_data import entry, function, truth, write


@pytest.fixture
def folder(tmp_path):
    """One category of each rule in v4's layout, and one in v3's."""
    write(tmp_path, "simple_python", [entry("simple_python_0")], [truth("simple_python_0")])
    write(tmp_path, "multiple", [entry("multiple_0", [function("other"), function()])], [truth("multiple_0")])
    two = ({"cafe.order": {"drink": ["tea"]}}, {"cafe.order": {"drink": ["milk"]}})
    write(tmp_path, "live_parallel", [entry("live_parallel_0-0-0")], [truth("live_parallel_0-0-0", *two)])
    write(tmp_path, "irrelevance", [entry("irrelevance_0"), entry("irrelevance_1", [])])
    write(tmp_path, "live_relevance", [entry("live_relevance_0-0-0")])
    java = function(properties={"ids": {"type": "ArrayList", "items": {"type": "long"}}}, required=["ids"])
    write(
        tmp_path,
        "java",
        [entry("java_0", [java])],
        [truth("java_0", {"cafe.order": {"ids": [[1, 2]]}})],
        version=3,
    )
    return tmp_path


def load(folder, rest):
    return load_suites([f"bfcl:{folder}#{rest}"])


def only(folder, rest):
    (sample,) = load(folder, rest).samples
    return sample


def test_all_single_turn_categories_of_a_folder_are_one_suite(folder):
    suite = load(folder, "all-single-turn")
    assert {(one.category, one.id) for one in suite.samples} == {
        ("simple_python", "simple_python_0"),
        ("multiple", "multiple_0"),
        ("live_parallel", "live_parallel_0-0-0"),
        ("irrelevance", "irrelevance_0"),
        ("live_relevance", "live_relevance_0-0-0"),
        ("java", "java_0"),
    }
    assert [(one.id, one.category) for one in suite.excluded] == [("irrelevance_1", "irrelevance")]


def test_an_entry_becomes_a_sample_with_its_ground_truth_as_published(folder):
    assert sample_to_json(only(folder, "simple_python")) == {
        "id": "simple_python_0",
        "category": "simple_python",
        "messages": [{"role": "user", "content": "A tea, please."}],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "cafe_order",
                    "description": "Order something.",
                    "parameters": {
                        "type": "object",
                        "properties": {
                            "drink": {"type": "string"},
                            "price": {
                                "type": "number",
                                "format": "float",
                                "description": "Paid. This is a float type value.",
                            },
                        },
                        "required": ["drink"],
                    },
                },
            }
        ],
        "tool_choice": "auto",
        "expected": {
            "calls": [
                {
                    "name": "cafe_order",
                    "arguments": {"drink": ["tea", "Tea"], "price": ["", 2.5]},
                    "optional": ["price"],
                }
            ],
            "match": "bfcl",
            "bfcl": {"rule": "simple"},
        },
        "metadata": {"bfcl": {"layout": "v4", "names": "underscore"}},
    }


def test_names_stay_as_published_where_that_is_asked_and_the_sample_says_so(folder):
    sample = only(folder, "simple_python?names=published")
    assert list(sample.tools.functions) == ["cafe.order"]
    assert sample.expected.calls[0].name == "cafe.order"
    assert sample.metadata == {"bfcl": {"layout": "v4", "names": "published"}}


def test_a_java_parameter_is_a_string_and_keeps_its_type_for_matching(folder):
    sample = only(folder, "java")
    (ids,) = sample.tools.functions["cafe_order"]["properties"].values()
    assert ids["type"] == "string"
    assert ids["description"].endswith("its type is ArrayList of long.")
    assert (
        compare(
            sample.expected,
            [Call("cafe_order", {"ids": "new ArrayList<>(Arrays.asList(1L, 2L))"}, Span(0, 0))],
        )
        is None
    )
    assert compare(sample.expected, [Call("cafe_order", {"ids": [1, 2]}, Span(0, 0))]) is not None
    assert sample.metadata["bfcl"]["layout"] == "v3"


def test_every_sample_is_read_back_from_samples_jsonl_with_its_terms(folder):
    for sample in load(folder, "all-single-turn").samples:
        again = sample_from_json(json.loads(json.dumps(sample_to_json(sample))))
        assert again.expected == sample.expected
        assert sample_to_json(again) == sample_to_json(sample)


def test_the_ground_truth_fed_back_passes(folder):
    for sample in load(folder, "all-single-turn").samples:
        calls = reference_calls(sample.expected) or (Call("cafe_order", {}, Span(0, 0)),)
        passes = compare(sample.expected, calls) is None
        assert passes == (sample.category != "irrelevance")


@pytest.mark.parametrize(
    ("properties", "required", "right", "reason"),
    [
        (
            {"drink": {"type": "string"}},
            ["size"],
            {"drink": ["tea"]},
            "no answer can pass: cafe_order: $.size is missing (simple_function_checker:missing_required)",
        ),
        (
            {"drink": {"type": "string"}},
            [],
            {"drink": ["tea"], "size": [1]},
            (
                "no answer can pass: cafe_order: $.size is 1, but none was due "
                "(simple_function_checker:unexpected_param)"
            ),
        ),
        (
            {"drink": {"type": "array", "items": {"type": "string"}}},
            ["drink"],
            {"drink": []},
            'no answer can pass: cafe_order: $.drink is "", expected no value at all (type_error:simple)',
        ),
        (
            {"drink": {"type": "number"}},
            [],
            {"drink": [1]},
            'cafe.order declares "drink" as `number`, on which the benchmark\'s own checker crashes',
        ),
    ],
)
def test_an_entry_that_no_answer_can_pass_is_left_out_and_says_why(
    tmp_path, properties, required, right, reason
):
    broken = entry("simple_python_0", [function(properties=properties, required=required)])
    write(tmp_path, "simple_python", [broken], [truth("simple_python_0", {"cafe.order": right})])
    suite = load(tmp_path, "simple_python")
    assert not suite.samples
    assert [one.reason for one in suite.excluded] == [reason]


def test_an_entry_that_no_answer_can_pass_is_asked_all_the_same_on_request(tmp_path):
    broken = entry("simple_python_0", [function(required=["size"])])
    write(tmp_path, "simple_python", [broken], [truth("simple_python_0")])
    assert only(tmp_path, "simple_python?unpassable=include").id == "simple_python_0"


def test_a_phantom_optional_parameter_leaves_an_entry_passable(tmp_path):
    right = {"cafe.order": {"drink": ["tea"], "phantom": ["x", ""]}}
    write(tmp_path, "simple_python", [entry("simple_python_0")], [truth("simple_python_0", right)])
    assert reference_calls(only(tmp_path, "simple_python").expected)[0].arguments == {"drink": "tea"}


def test_a_required_parameter_may_have_to_be_the_empty_string(tmp_path):
    right = {"cafe.order": {"drink": [""]}}
    write(tmp_path, "simple_python", [entry("simple_python_0")], [truth("simple_python_0", right)])
    assert reference_calls(only(tmp_path, "simple_python").expected)[0].arguments == {"drink": ""}


def test_the_newest_layout_of_a_category_is_read(folder):
    write(folder, "multiple", [entry("multiple_old")], [truth("multiple_old")], version=3)
    assert only(folder, "multiple").id == "multiple_0"


def test_a_folder_may_hold_its_files_in_data(tmp_path):
    write(tmp_path / "data", "irrelevance", [entry("irrelevance_0")])
    assert only(tmp_path, "irrelevance").id == "irrelevance_0"


def test_a_folder_name_may_hold_what_separates_a_spec(tmp_path):
    write(tmp_path / "a#b?c", "irrelevance", [entry("irrelevance_0")])
    assert only(tmp_path / "a#b?c", "irrelevance?names=published").id == "irrelevance_0"


@pytest.mark.parametrize(
    ("category", "reason"),
    [
        ("multi_turn_base", "is played over several turns against simulated services"),
        ("web_search_base", "is agentic: it needs a web search that answers"),
        ("memory", "is agentic: it needs a memory that answers"),
        ("exec_simple", "was retired by the benchmark"),
        ("format_sensitivity", "asks entries of other categories in other prompt formats"),
    ],
)
def test_a_category_of_more_than_one_turn_is_refused_with_a_clear_word(category, reason):
    with pytest.raises(UserError) as caught:
        parse_bfcl_spec(f"bfcl:{category}")
    assert caught.value.what == (
        f'tasks: "bfcl:{category}": {category} {reason}; only single-turn categories are replayed'
    )


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("bfcl:", 'no category of BFCL has the name ""'),
        ("bfcl:simple?names=dots", 'names is "dots", expected "underscore" or "published"'),
        ("bfcl:simple?dots=1", '"dots": no such option, expected names or unpassable'),
    ],
)
def test_a_spec_that_names_nothing_is_refused(spec, problem):
    with pytest.raises(UserError) as caught:
        parse_bfcl_spec(spec)
    assert caught.value.what == f'tasks: "{spec}": {problem}'


@pytest.mark.parametrize(
    ("lines", "truths", "problem"),
    [
        ("{", [], "not JSON: Expecting property name enclosed in double quotes, at column 2"),
        ("[]", [], "holds no JSON object, expected one entry a line"),
        (json.dumps(entry("a")), [], 'id: "a" has no ground truth in '),
        (json.dumps({"id": "a", "question": []}), [truth("a")], "question: List should have at least 1 item"),
        (
            json.dumps({**entry("a"), "question": [[], []]}),
            [truth("a")],
            "question: has 2 turns, expected one",
        ),
        (
            json.dumps(entry("a")),
            [truth("a", {"missing": {}})],
            'expected.calls[0].name: is "missing", expected a declared tool (cafe_order)',
        ),
    ],
)
def test_a_wrong_line_is_named(tmp_path, lines, truths, problem):
    write(tmp_path, "simple_python", [], truths or [truth("other")])
    path = tmp_path / "BFCL_v4_simple_python.json"
    path.write_text(f"\n{lines}\n")
    with pytest.raises(UserError) as caught:
        load(tmp_path, "simple_python")
    assert caught.value.what.startswith(f"{path}:2: {problem}")


def test_a_ground_truth_that_names_two_functions_in_one_call_is_refused(tmp_path):
    write(tmp_path, "simple_python", [entry("a")], [truth("a", {"f": {}, "g": {}})])
    with pytest.raises(UserError, match=r":1: ground_truth: names 2 functions in one call, expected one$"):
        load(tmp_path, "simple_python")


def test_a_missing_ground_truth_file_is_named(tmp_path):
    write(tmp_path, "simple_python", [entry("a")])
    with pytest.raises(
        UserError, match=r"possible_answer/BFCL_v4_simple_python\.json: cannot be read: No such file"
    ):
        load(tmp_path, "simple_python")


def test_a_folder_without_the_benchmark_says_what_was_expected(tmp_path):
    with pytest.raises(
        UserError, match=r"holds no file of BFCL, expected BFCL_v3_\*\.json or BFCL_v4_\*\.json$"
    ):
        load(tmp_path, "simple_python")


def test_a_category_that_a_folder_lacks_is_told_what_there_is(folder):
    with pytest.raises(UserError) as caught:
        load(folder, "simple")
    assert caught.value.tip == (
        "there are simple_python, java, multiple, irrelevance, live_parallel, live_relevance, all-single-turn"
    )


def test_the_installed_package_is_read_and_never_imported(tmp_path, monkeypatch):
    package = tmp_path / "site" / "bfcl_eval"
    write(package / "data", "irrelevance", [entry("irrelevance_7")])
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    (sample,) = load_suites(["bfcl:irrelevance"]).samples
    assert sample.id == "irrelevance_7"
    assert "bfcl_eval" not in sys.modules


def test_without_package_and_hub_the_error_says_how_else(monkeypatch):
    monkeypatch.setattr(bfcl_files, "find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(UserError) as caught:
        load_suites(["bfcl:simple_python"])
    assert caught.value.what == "bfcl: the package bfcl-eval is not installed"
    assert caught.value.tip == (
        "run `pip install --no-deps bfcl-eval`, or name a folder of its JSON files: bfcl:PATH#CATEGORY"
    )


class Hub:
    """Stands in for `huggingface_hub`."""

    def __init__(self, answer):
        self.answer = answer

    def snapshot_download(self, repository, **_):
        assert repository == bfcl_files.HUB_DATA_SET
        if isinstance(self.answer, Exception):
            raise self.answer
        return str(self.answer)


def test_the_hub_is_asked_where_the_package_is_not_installed(folder, monkeypatch):
    monkeypatch.setattr(bfcl_files, "find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, "huggingface_hub", Hub(folder))
    assert [one.id for one in load_suites(["bfcl:multiple"]).samples] == ["multiple_0"]


def test_offline_without_a_cached_data_set_is_one_clear_error(monkeypatch):
    monkeypatch.setattr(bfcl_files, "find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, "huggingface_hub", Hub(FileNotFoundError("nothing cached\nand more")))
    with pytest.raises(UserError) as caught:
        load_suites(["bfcl:multiple"])
    assert caught.value.what == (
        "bfcl: the package bfcl-eval is not installed, and the data set "
        "gorilla-llm/Berkeley-Function-Calling-Leaderboard cannot be had: nothing cached"
    )
