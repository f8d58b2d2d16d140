"""Data sets of the Hugging Face hub: `hub:OWNER/NAME`, with options behind a `?`.

`config`, `split`, `revision` and `data_files` are those of `datasets.load_dataset`. One JSON file that stands
in `data_files` is fetched and read as text, so that Arrow never sees it; the rest comes through `datasets`.
`streaming=true` reads rows as they arrive instead of fetching the whole; `take=N` reads the first N rows.
"""

import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, cast

from ..errors import UserError
from .data_rows import Source, read_file, samples_of_rows
from .excluded import Excluded
from .json_lines import JsonRead
from .sample import Sample
from .spec_options import split_options
from .table_file import HUB_EXTRA, plain_row
from .values import shown

_OPTIONS = ("config", "split", "data_files", "revision", "streaming", "take")
_REPOSITORY = re.compile(r"hub:(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)")
_TEXT_SUFFIXES = (".json", ".jsonl", ".ndjson")
_OFFLINE = "offline (HF_HUB_OFFLINE) only what was fetched before can be read; see also HF_HOME"


@dataclass(frozen=True, slots=True)
class HubSpec:
    """A data set of the hub, as it was named; what is None is the library's to choose."""

    spec: str
    repository: str
    name: str
    config: str | None = None
    split: str | None = None
    data_files: str | None = None
    revision: str | None = None
    is_streaming: bool = False
    take: int | None = None

    @property
    def is_text(self) -> bool:
        """True for one JSON file, which is read as text."""
        files = self.data_files
        return files is not None and files.endswith(_TEXT_SUFFIXES) and not set(files) & set("*?[")


def parse_hub_spec(spec: str) -> HubSpec:
    """Read a spec.

    Raises:
        UserError: It is not `hub:OWNER/NAME`, or an option is unknown or of a wrong value.
    """
    parts = split_options(spec)
    parts.refuse_others(*_OPTIONS)
    found = _REPOSITORY.fullmatch(parts.base)
    if found is None:
        raise UserError(f"tasks: {shown(spec)}: expected hub:OWNER/NAME, such as hub:someone/tool-calls")
    take, options = parts.count("take", None), parts.options
    if take == 0:
        raise UserError(f"tasks: {shown(spec)}: take is 0, expected at least 1")
    read = HubSpec(
        spec=spec,
        repository=f"{found['owner']}/{found['name']}",
        name=found["name"],
        config=options.get("config"),
        split=options.get("split"),
        data_files=options.get("data_files"),
        revision=options.get("revision"),
        is_streaming=parts.flag("streaming"),
        take=take,
    )
    if read.is_text and (read.is_streaming or read.split or read.config):
        raise UserError(
            f"tasks: {shown(spec)}: a JSON file is fetched whole and read as text, expected no streaming, "
            "split or config beside it"
        )
    return read


def read_hub(spec: str) -> Iterator[tuple[str, Sample | Excluded]]:
    """Read a data set of the hub.

    Yields:
        Each with its place in words: a sample, or a row that cannot be one.

    Raises:
        UserError: `datasets` is not installed, the data set cannot be had, or it has no known shape.
    """
    wanted = parse_hub_spec(spec)
    where = f"hub:{wanted.repository}"
    if wanted.is_text:
        for place, one in islice(read_file(_fetched_file(wanted)), wanted.take):
            yield f"{where}, {Path(place).name}", one
        return
    rows = _rows(wanted)
    yield from samples_of_rows(rows, Source(wanted.name, where, "row", has_structs=True))


def _library(name: str, spec: HubSpec) -> Any:  # noqa: ANN401 - optional libraries without types of their own
    try:
        return import_module(name)
    except ImportError as error:
        raise UserError(
            f"tasks: {shown(spec.spec)}: needs the package datasets, which is not installed", tip=HUB_EXTRA
        ) from error


def _fetched_file(spec: HubSpec) -> Path:
    _ = _library("datasets", spec)
    hub = _library("huggingface_hub", spec)
    with _said_clearly(spec):
        return Path(
            hub.hf_hub_download(spec.repository, spec.data_files, repo_type="dataset", revision=spec.revision)
        )


def _rows(spec: HubSpec) -> Iterator[tuple[int, JsonRead]]:
    datasets = _library("datasets", spec)
    with _said_clearly(spec):
        loaded = datasets.load_dataset(
            spec.repository,
            spec.config,
            data_files=spec.data_files,
            split=spec.split,
            revision=spec.revision,
            streaming=spec.is_streaming,
        )
        rows = cast("Iterable[Mapping[str, object]]", _only_split(loaded, spec))
        for number, row in enumerate(islice(rows, spec.take), 1):
            yield number, plain_row(row)


def _only_split(loaded: object, spec: HubSpec) -> object:
    """The rows of the split that was asked for, or of the only one there is."""
    if spec.split is not None or not isinstance(loaded, Mapping):
        return loaded
    splits = cast("Mapping[str, object]", loaded)
    if len(splits) != 1:
        raise UserError(
            f"tasks: {shown(spec.spec)}: has the splits {', '.join(splits)}, expected one to be named",
            tip=f"for example hub:{spec.repository}?split={next(iter(splits), 'test')}",
        )
    return next(iter(splits.values()))


@contextmanager
def _said_clearly(spec: HubSpec) -> Generator[None]:
    """Turn what the libraries raise when a data set cannot be had into one clear error."""
    hub_errors, data_errors = import_module("huggingface_hub.errors"), import_module("datasets.exceptions")
    # The first is not there in every version, and derives from OSError where it is not.
    of_libraries = cast(
        "tuple[type[Exception], ...]",
        (getattr(hub_errors, "HTTPError", OSError), getattr(data_errors, "DatasetsError", OSError)),
    )
    kinds: tuple[type[Exception], ...] = (OSError, ValueError, RuntimeError, *of_libraries)
    try:
        yield
    except kinds as error:
        first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UserError(f"tasks: {shown(spec.spec)}: cannot be had: {first_line}", tip=_OFFLINE) from error
