"""From rows of any known shape to samples: the first row says the shape, and every wrong row is named."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import UserError
from .answered import read_answered
from .arrow_nulls import NullsTakenOut
from .captured import sample_of_log, sample_of_request
from .excluded import Excluded
from .json_lines import JsonRead, holds_array, read_json_array, read_json_lines
from .problems import Problems, SampleError
from .raw_sample import DEFAULT_CATEGORY, sample_from_json
from .row import Ids, Row, read_text
from .sample import Sample
from .shape import SHAPES_IN_WORDS, Shape, detect_shape
from .suite_file import read_suite_file
from .table_file import read_csv, read_parquet
from .values import shown

# Members of our own samples that are JSON; a table holds them as text.
_JSON_MEMBERS = frozenset(("messages", "tools", "tool_choice", "expected", "metadata", "extra_body"))


@dataclass(frozen=True, slots=True)
class Source:
    """Rows, and what is known of where they come from.

    Attributes:
        name: A short name, for ids: the stem of a file, the name of a data set.
        where: What every message leads with.
        unit: What a number counts, such as `line`.
        has_structs: The rows went through Arrow (see `tasks.arrow_nulls`).
        is_suite_file: See `tasks.shape.detect_shape`.
    """

    name: str
    where: str
    unit: str
    has_structs: bool = False
    is_suite_file: bool = False

    def place(self, number: int) -> str:
        """The place of a row in words."""
        return f"{self.where}:{number}" if self.unit == "line" else f"{self.where}, {self.unit} {number}"


def read_file(path: Path) -> Iterator[tuple[str, Sample | Excluded]]:
    """Read a file of any known suffix and shape: JSON lines, a JSON array, CSV or Parquet.

    Yields:
        Each with its place in words: a sample, or a row of a data set that cannot be one.

    Raises:
        UserError: The file cannot be read, no shape fits its first row, or any row is wrong.
    """
    match path.suffix.lower():
        case ".csv":
            yield from samples_of_rows(read_csv(path), Source(path.stem, str(path), "line"))
        case ".parquet":
            source = Source(path.stem, str(path), "row", has_structs=True)
            yield from samples_of_rows(read_parquet(path), source)
        case _ if holds_array(path):
            source = Source(path.stem, str(path), "item", is_suite_file=True)
            yield from samples_of_rows(read_json_array(path), source)
        case _ if _is_suite(path):
            for number, sample in read_suite_file(path):
                yield f"{path}:{number}", sample
        case _:
            yield from samples_of_rows(read_json_lines(path), Source(path.stem, str(path), "line"))


def _is_suite(path: Path) -> bool:
    """Say whether the first line is of our own form, or no object: then our reader says what is wrong."""
    _, first = next(read_json_lines(path), (0, None))
    return not isinstance(first, Mapping) or detect_shape(first, is_suite_file=True) is Shape.SAMPLE


def samples_of_rows(
    rows: Iterable[tuple[int, JsonRead]], source: Source
) -> Iterator[tuple[str, Sample | Excluded]]:
    """Read rows; the shape of the first is that of all.

    Yields:
        Each with its place in words, up to the first row that is wrong: what comes after it is only checked.

    Raises:
        UserError: No shape fits the first row; after the last row, if any is wrong; or no row gives a sample.
    """
    problems, ids = Problems(source.unit), Ids(source.name)
    shape: Shape | None = None
    place_of: dict[str, str] = {}
    first_left_out: Excluded | None = None
    for number, value in rows:
        place = source.place(number)
        try:
            if shape is None:
                shape = _shape(value, source)
            one = _read(value, shape, source, ids)
            _refuse_known_id(one, place, place_of)
        except SampleError as error:
            problems.add(place, error)
            continue
        if isinstance(one, Excluded):
            first_left_out = first_left_out or one
        if not problems:
            yield place, one
    problems.refuse()
    if not place_of:
        reason = "" if first_left_out is None else f"; the first row is left out: {first_left_out.reason}"
        raise UserError(f"{source.where}: holds no sample{reason}")


def _shape(value: JsonRead, source: Source) -> Shape:
    if isinstance(value, SampleError):
        raise value
    shape = detect_shape(value, is_suite_file=source.is_suite_file)
    if shape is None:
        found = f"has {', '.join(value)}" if isinstance(value, Mapping) and value else f"is {shown(value)}"
        raise SampleError("", f"{found}, expected {SHAPES_IN_WORDS}")
    return shape


def _read(value: JsonRead, shape: Shape, source: Source, ids: Ids) -> Sample | Excluded:
    if isinstance(value, SampleError):
        raise value
    if not isinstance(value, Mapping):
        raise SampleError("", f"is {shown(value)}, expected a JSON object")
    nulls = NullsTakenOut()
    row = Row(value, source.name)
    try:
        row = Row(nulls.row(value) if source.has_structs else value, source.name)
    except SampleError as error:
        category = row.category or DEFAULT_CATEGORY
        return Excluded(ids.of_row(row), category, str(error))
    match shape:
        case Shape.REQUEST:
            one = sample_of_request(_with_json(row, _JSON_MEMBERS | {"stop", "response_format"}), ids)
        case Shape.LOG:
            one = sample_of_log(row, ids)
        case Shape.SAMPLE:
            one = sample_from_json(dict(_with_json(row, _JSON_MEMBERS).members))
        case _:
            one = read_answered(row, shape, ids)
    if nulls.count and isinstance(one, Sample):
        return replace(one, metadata={**one.metadata, "source": {"nulls_taken_out": nulls.count}})
    return one


def _with_json(row: Row, names: frozenset[str]) -> Row:
    """A row of a table with those members read that hold JSON as text."""
    members = {
        name: read_text(value, name) if name in names else value for name, value in row.members.items()
    }
    return replace(row, members=members)


def _refuse_known_id(one: Sample | Excluded, place: str, place_of: dict[str, str]) -> None:
    if isinstance(one, Excluded):
        return
    if one.id in place_of:
        raise SampleError("id", f"is {shown(one.id)}, which {place_of[one.id]} has already")
    place_of[one.id] = place
