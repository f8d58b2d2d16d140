"""Bad files: one clear error that names the line, in bounded memory."""

import json
import subprocess
import sys

import pytest
from draftproof.errors import UserError
from draftproof.tasks.json_lines import read_json_array
from draftproof.tasks.problems import SampleError
from draftproof.tasks.suite import load_suites

from .samples import EXPECTED_CALL, WEATHER, raw_sample

NO_SCHEMA = {"type": "function", "function": {"name": "f", "parameters": {"type": "nothing"}}}
REFUSED = {"calls": [{**EXPECTED_CALL, "arguments": {"city": [5]}, "optional": []}]}


@pytest.mark.parametrize(
    ("second_line", "problem"),
    [
        (
            '{"id": "b",',
            "not JSON: the text ends where a string in double quotes, as key, should stand",
        ),
        ("[]", "is [], expected a JSON object"),
        (
            json.dumps(raw_sample(id="b", tools=[NO_SCHEMA])),
            'tools: tool 0 ("f"): $.function.parameters.type: ',
        ),
        (
            json.dumps(raw_sample(id="b", expected=REFUSED)),
            "expected.calls[0].arguments: is refused by the tool's own schema: ",
        ),
        (json.dumps(raw_sample(id="a")), 'id: is "a", which line 1 has already'),
    ],
    ids=["not JSON", "no object", "no schema", "refused by its schema", "duplicate id"],
)
def test_the_wrong_line_is_named(tmp_path, second_line, problem):
    """With the member that is wrong, and what was expected."""
    path = tmp_path / "suite.jsonl"
    path.write_text(f"{json.dumps(raw_sample(id='a'))}\n{second_line}\n")
    with pytest.raises(UserError) as caught:
        load_suites([str(path)])
    assert str(caught.value).startswith(f"{path}:2: {problem}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_an_empty_file_is_an_error(tmp_path, content):
    path = tmp_path / "suite.jsonl"
    path.write_text(content)
    with pytest.raises(UserError, match=r"suite.jsonl: holds no sample"):
        load_suites([str(path)])


def items(tmp_path, text):
    path = tmp_path / "rows.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [(n, str(one) if isinstance(one, SampleError) else one) for n, one in read_json_array(path)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[]", []),
        ("\ufeff [ 1 , [2], {}\n]\n", [(1, 1), (2, [2]), (3, {})]),
        ("[1", [(1, 1), (2, "not JSON: the array does not end")]),
        ("[1, tru", [(1, 1), (2, ...)]),
        ("[1]x", [(1, 1), (2, "not JSON: something follows the array")]),
        ("[1 2]", [(1, 1), (2, "not JSON: a comma or the end of the array should stand here")]),
        ('[{"a": 1, "a": 2}]', [(1, 'holds the key "a" twice in one object, again at column 11')]),
        ("[1,]", [(1, 1), (2, ...)]),
        ('["', [(1, ...)]),
        ("[", [(1, ...)]),
        (b"[\xff]", [(1, "not UTF-8")]),
    ],
)
def test_an_array_is_read_an_item_at_a_time(tmp_path, text, found):
    """What breaks it is named with the number of the item."""
    read = items(tmp_path, text)
    assert [number for number, _ in read] == [number for number, _ in found]
    for (_, came), (_, wanted) in zip(read, found, strict=True):
        assert came == wanted or (wanted is ... and came.startswith("not JSON: ")), came


def test_items_longer_than_a_chunk_are_whole(tmp_path):
    """Numbers too, which look whole before they are."""
    rows = ["x" * 3_000_000, 12345678901234567890, "y" * 1_048_570, 7, [1] * 500_000]
    assert [one for _, one in items(tmp_path, json.dumps(rows))] == rows


PEAK = """
import resource, sys
from draftproof.errors import UserError
from draftproof.tasks.suite import load_suites, read_suite
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    if sys.argv[2] == "check":
        for _ in read_suite(sys.argv[1]):
            pass
    else:
        load_suites([sys.argv[1]], limit=50)
except UserError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.heavy
@pytest.mark.parametrize("how", ["check", "limit"])
@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_a_large_file_is_read_in_bounded_memory(tmp_path, how, suffix):
    """50 MB whose last line is wrong: that line is named, and 50 MB are never held."""
    path = tmp_path / f"large{suffix}"
    with path.open("w") as file:
        file.write("[" if suffix == ".json" else "")
        for number in range(12_000):
            turn = {"role": "user", "content": f"{number} " + "x" * 4_000}
            line = raw_sample(id=str(number), category=f"c{number % 9}", messages=[turn], tools=[WEATHER])
            file.write(json.dumps(line) + ("," if suffix == ".json" else "") + "\n")
        file.write("[]]" if suffix == ".json" else "[]")
    assert path.stat().st_size > 50_000_000
    ran = subprocess.run([sys.executable, "-c", PEAK, path, how], capture_output=True, text=True, check=True)
    problem, peak_mebibytes = ran.stdout.splitlines()
    assert problem.startswith(f"{path}:12001: " if suffix == ".jsonl" else f"{path}, item 12001: ")
    assert int(peak_mebibytes) < 40
