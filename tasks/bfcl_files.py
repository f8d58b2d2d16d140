"""Where BFCL's files come from: a folder, the installed `bfcl-eval` package, or the data set on the hub.

Only data files are read; nothing of the package is imported.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..errors import UserError
from ..parsers.result import Json

HUB_DATA_SET = "gorilla-llm/Berkeley-Function-Calling-Leaderboard"
ANSWERS = "possible_answer"

_PACKAGE = "bfcl_eval"
_FILE = re.compile(r"BFCL_v(?P<version>\d+)_(?P<category>\w+)\.json")
_HOW_ELSE = "run `pip install --no-deps bfcl-eval`, or name a folder of its JSON files: bfcl:PATH#CATEGORY"


@dataclass(frozen=True, slots=True)
class BfclFiles:
    """A folder in one of the published layouts: the newest version of each category's file."""

    folder: Path
    versions: dict[str, int]

    def questions(self, category: str) -> Path:
        """The file of a category's entries."""
        return self.folder / self._name(category)

    def answers(self, category: str) -> Path:
        """The file of its ground truth; categories that want no particular call have none."""
        return self.folder / ANSWERS / self._name(category)

    def layout(self, category: str) -> str:
        """The layout of a category's file, as `v4`."""
        return f"v{self.versions[category]}"

    def _name(self, category: str) -> str:
        return f"BFCL_{self.layout(category)}_{category}.json"


def find_files(folder: Path | None) -> BfclFiles:
    """Find the files of the benchmark.

    Args:
        folder: Where they lie, or a folder above their `data`; None for the installed package or, without
            that, the data set on the hub.

    Raises:
        UserError: There are none, or they cannot be had; says how else.
    """
    if folder is None:
        folder = _package_folder() or _hub_folder()
    for place in (folder, folder / "data"):
        if files := _read_folder(place):
            return files
    raise UserError(f"{folder}: holds no file of BFCL, expected BFCL_v3_*.json or BFCL_v4_*.json")


def read_entries(path: Path) -> Iterator[tuple[int, dict[str, Json]]]:
    """Yield the entries of a file, one JSON object a line, with their line numbers.

    Raises:
        UserError: The file cannot be read, or a line is no JSON object.
    """
    try:
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield number, _entry(line, f"{path}:{number}")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UserError(f"{path}: cannot be read: {reason or error}") from error


def _entry(line: str, place: str) -> dict[str, Json]:
    try:
        entry: Json = json.loads(line.strip(), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise UserError(f"{place}: not JSON: {error.msg}, at column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{place}: not JSON: {error}") from None
    if not isinstance(entry, dict):
        raise UserError(f"{place}: holds no JSON object, expected one entry a line")
    return entry


def _refuse_constant(constant: str) -> Json:
    raise ValueError(f"{constant} is no JSON value")


def _read_folder(folder: Path) -> BfclFiles | None:
    versions: dict[str, int] = {}
    try:
        names = [path.name for path in folder.iterdir()]
    except OSError:
        return None
    for name in names:
        if found := _FILE.fullmatch(name):
            category, version = found["category"], int(found["version"])
            versions[category] = max(version, versions.get(category, 0))
    return BfclFiles(folder, versions) if versions else None


def _package_folder() -> Path | None:
    # find_spec of a top-level name finds the package without importing it.
    spec = find_spec(_PACKAGE)
    places = None if spec is None else spec.submodule_search_locations
    return Path(next(iter(places))) / "data" if places else None


def _hub_folder() -> Path:
    try:
        from huggingface_hub import snapshot_download  # pyright: ignore[reportMissingImports, reportUnknownVariableType]
    except ImportError:
        raise UserError("bfcl: the package bfcl-eval is not installed", tip=_HOW_ELSE) from None
    from httpx import HTTPError

    try:
        folder = snapshot_download(  # pyright: ignore[reportUnknownVariableType]
            HUB_DATA_SET, repo_type="dataset", allow_patterns=["BFCL_v*.json", f"{ANSWERS}/BFCL_v*.json"]
        )
    except (OSError, ValueError, HTTPError) as error:
        first_line = (str(error) or type(error).__name__).splitlines()[0]
        raise UserError(
            f"bfcl: the package bfcl-eval is not installed, and the data set {HUB_DATA_SET} cannot be had: "
            f"{first_line}",
            tip=_HOW_ELSE,
        ) from error
    return Path(str(folder))  # pyright: ignore[reportUnknownArgumentType]
