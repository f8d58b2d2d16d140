"""Packed files that are damaged, or that another program wrote: each is one error."""

import importlib
import shutil

import pytest
from draftproof.errors import UserError
from draftproof.evals.at_rest import packed_file
from draftproof.evals.at_rest.open_run import open_run
from draftproof.evals.at_rest.packed_file import attempts_file, samples_file
from draftproof.evals.at_rest.packing import unpack_run
from draftproof.evals.summing_up.summary import summarise

from ...reports.test_reports import make_run
from ..runs.test_stored_run import RUNS, written
from .packed_runs import packed

pytestmark = pytest.mark.usefixtures("in_small_groups")


def with_other_format(directory):
    pq = importlib.import_module("pyarrow.parquet")
    path = attempts_file(directory)
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({"draftproof": "9"}), path)


def with_flipped_bytes(directory):
    path = attempts_file(directory)
    content = bytearray(path.read_bytes())
    for place in range(40, len(content) // 2, 7):
        content[place] ^= 0x55
    path.write_bytes(content)


def with_samples_of_another(directory):
    packed(written(directory.with_name("other"), RUNS["half asked"]()))
    shutil.copyfile(samples_file(directory.with_name("other-packed")), samples_file(directory))


def with_samples_packed_again(directory):
    """As many groups, and of the same run, but who is to know."""
    again = packed(directory.with_name("run"), directory.with_name("again"))
    shutil.copyfile(samples_file(again), samples_file(directory))


def rewritten(change, name="attempts"):
    """Change each group of a file, and keep what the file says of itself."""

    def spoil(directory):
        pq, path = importlib.import_module("pyarrow.parquet"), directory / f"{name}.parquet"
        file = pq.ParquetFile(path)
        groups = [change(file.read_row_group(number)) for number in range(file.num_row_groups)]
        with pq.ParquetWriter(path, groups[0].schema.with_metadata(file.schema_arrow.metadata)) as writer:
            for group in groups:
                writer.write_table(group, row_group_size=max(1, group.num_rows))

    return spoil


def with_value(name, value):
    def change(table):
        place = table.schema.get_field_index(name)
        field = table.schema.field(place)
        cells = importlib.import_module("pyarrow").array([value] * table.num_rows, field.type)
        return table.set_column(place, field, cells)

    return rewritten(change)


def with_renamed_arm(directory):
    path = directory / "run.json"
    path.write_text(path.read_text().replace('"ngram"', '"mtp"'))


def of_text(table):
    place = table.schema.get_field_index("number")
    field = table.schema.field(place).with_type(importlib.import_module("pyarrow").string())
    return table.set_column(place, field, table.column("number").cast(field.type))


ESCAPED = "../../../../escaped"
WRONG_FILES = {
    "cut": (lambda d: attempts_file(d).write_bytes(attempts_file(d).read_bytes()[:-50]), "cannot be read"),
    "empty": (lambda d: attempts_file(d).write_bytes(b""), "cannot be read"),
    "no samples": (lambda d: samples_file(d).unlink(), r"samples\.parquet: cannot be read"),
    "bytes that changed": (with_flipped_bytes, r"attempts\.parquet: cannot be read"),
    "another format": (with_other_format, r"attempts\.parquet: format 9; this version .* reads format 1"),
    "of another run": (with_samples_of_another, "is not of one run with samples.parquet"),
    "of another packing": (with_samples_packed_again, "is not of one run with samples.parquet"),
    "an arm that is a path": (with_value("arm", ESCAPED), f"run.json knows no arm '{ESCAPED}'"),
    "an unknown mode": (with_value("mode", "aloud"), r"attempts\.parquet: cannot be read: 'aloud'"),
    "an unknown stage": (with_value("stage", "last"), r"attempts\.parquet: cannot be read: 'last'"),
    "no JSON": (with_value("tool_calls", "["), r"attempts\.parquet: cannot be read"),
    "a reading that is none": (with_value("reading", "{}"), r"attempts\.parquet: cannot be read"),
    "an arm renamed": (with_renamed_arm, "run.json knows no arm 'ngram'"),
    "samples of another kind": (
        rewritten(lambda t: t.rename_columns(["line", "id"]), "samples"),
        r"samples\.parquet: has other columns",
    ),
    "no budgets": (with_value("max_tokens", None), "an attempt lacks a member"),
    "no ids": (with_value("id", None), "an attempt lacks a member"),
    "a column less": (
        rewritten(lambda t: t.drop_columns(["stage"])),
        "expected one column 'stage' of string, found none",
    ),
    "a column twice": (
        rewritten(lambda t: t.append_column("arm", t.column("arm"))),
        "expected one column 'arm' of string without nulls, found string, string",
    ),
    "a column more": (rewritten(lambda t: t.append_column("more", t.column("arm"))), "has other columns"),
    "a column of another type": (
        rewritten(of_text),
        "expected one column 'number' of int64 .* found string",
    ),
}


@pytest.mark.parametrize(("spoil", "says"), WRONG_FILES.values(), ids=WRONG_FILES)
@pytest.mark.usefixtures("is_left_on_disk")
def test_a_damaged_file_is_one_error(tmp_path, spoil, says):
    """Nothing of it is believed or written anywhere, and it is said what to do."""
    directory = packed(written(tmp_path / "run", make_run()))
    spoil(directory)
    there = set(tmp_path.rglob("*"))
    for read in (
        lambda: summarise(open_run(directory)),
        lambda: unpack_run(directory, tmp_path / "a" / "b" / "back"),
    ):
        with pytest.raises(UserError, match=says) as caught:
            read()
        assert caught.value.exit_code == 2
        assert caught.value.tip
    assert set(tmp_path.rglob("*")) - there <= {tmp_path / "a", tmp_path / "a" / "b"}


def test_a_missing_library_names_the_extra(tmp_path, monkeypatch):
    """To pack and to read."""
    directory = written(tmp_path / "run", make_run())
    there = packed(directory)
    packed_file._module.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    packed_file._opened.cache_clear()
    for act in (lambda: packed(directory, tmp_path / "again"), lambda: open_run(there)):
        with pytest.raises(UserError, match="needs pyarrow") as caught:
            act()
        assert caught.value.tip == "pip install 'draftproof[frames]'"
    assert not (tmp_path / "again").exists()
    packed_file._module.cache_clear()
