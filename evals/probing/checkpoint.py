"""A checkpoint on disk: does it declare layers for multi-token prediction (MTP), and does it ship them?

Declared without tensors, a server fails late or drafts noise; tensors without the declaration stay unused.
Names are those of the published configurations: `num_nextn_predict_layers` (DeepSeek, GLM) and
`mtp_num_hidden_layers` (Qwen), at the top or in `text_config`. Their tensors are named `mtp.…`, or belong to
layers after the last ordinary one. Headers are read, tensors never.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from ...errors import UserError
from .check import Check, Verdict

DECLARATIONS = ("mtp_num_hidden_layers", "num_nextn_predict_layers")
# Index files of the largest published models have a few MB; a header may have 100 MB by its format.
MAX_JSON_BYTES = 32 * 1024 * 1024
MAX_HEADER_BYTES = 100 * 1024 * 1024
_LAYER = re.compile(r"(?:^|\.)layers\.(\d{1,6})\.")
# `mtp.layers.0.` (Qwen), `model.mtp_layers.0.` (MiMo), `model.mtp_block.0.`, `mtp_linear_proj.` (ERNIE).
_MTP = re.compile(r"(?:^|\.)mtp(?:_[a-z_]+)?\.")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a checkpoint says of its MTP layers.

    `layers` are the ordinary ones; `declared` is None where nothing is declared; `tensors` is None where no
    file lists the tensors, else the number of those that belong to MTP layers.
    """

    path: Path
    layers: int | None
    declared: int | None
    tensors: int | None

    def check(self) -> Check:
        """Judge the declaration against the tensors."""
        name = "MTP layers"
        declared = self.declared or 0
        match (declared, self.tensors):
            case (0, None | 0):
                return Check(name, Verdict.OK, "none declared, none shipped: nothing for MTP to run on")
            case (0, count):
                return Check(name, Verdict.IGNORED, f"{count} tensors shipped, none declared in config.json")
            case (_, None):
                return Check(name, Verdict.UNKNOWN, f"{declared} declared; no file lists the tensors")
            case (_, 0):
                return Check(
                    name,
                    Verdict.WRONG,
                    f"{declared} declared, no tensors shipped: a server fails late or drafts nothing",
                )
            case (_, count):
                return Check(name, Verdict.OK, f"{declared} declared, {count} tensors shipped")


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read `config.json` and the list of tensors (the index, or the header of a single file).

    Raises:
        UserError: No such folder, no `config.json`, or a file that is not what its name says.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder", tip="name the folder with config.json in it")
    config = _read_json(folder / "config.json")
    inner = config.get("text_config")
    tables = [config, inner] if isinstance(inner, dict) else [config]
    layers = _first(tables, ("num_hidden_layers",), folder)
    names = _tensor_names(folder)
    return Checkpoint(
        folder,
        layers,
        _first(tables, DECLARATIONS, folder),
        None if names is None else sum(_is_mtp(name, layers) for name in names),
    )


def _first(tables: Iterable[Mapping[str, JsonValue]], keys: Iterable[str], folder: Path) -> int | None:
    """The largest count under one of the keys; None where none is there."""
    counts: list[int] = []
    for table in tables:
        for key in keys:
            value = table.get(key)
            if value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise UserError(f"{folder / 'config.json'}: {key}: expected a count, found {value!r:.80}")
            counts.append(value)
    return max(counts, default=None)


def _is_mtp(name: str, layers: int | None) -> bool:
    if _MTP.search(name):
        return True
    # Towers for images have layers of their own, which the text's count says nothing about.
    if "vision" in name or "visual" in name or "audio" in name:
        return False
    match = _LAYER.search(name)
    return match is not None and layers is not None and int(match[1]) >= layers


def _tensor_names(folder: Path) -> list[str] | None:
    index, single = folder / "model.safetensors.index.json", folder / "model.safetensors"
    if index.exists():
        weight_map = _read_json(index).get("weight_map")
        if not isinstance(weight_map, dict):
            raise UserError(f"{index}: weight_map: expected an object of tensor names")
        return list(weight_map)
    if single.exists():
        return [name for name in _read_header(single) if name != "__metadata__"]
    return None


def _read_header(path: Path) -> Mapping[str, JsonValue]:
    """The header of a safetensors file: its length in 8 bytes, little-endian, and that much JSON."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            room = path.stat().st_size - 8
            if not 2 <= length <= min(MAX_HEADER_BYTES, room):
                raise UserError(f"{path}: not a safetensors file (its header would have {length} bytes)")
            return _parse(path, file.read(length))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error


def _read_json(path: Path) -> Mapping[str, JsonValue]:
    try:
        if (size := path.stat().st_size) > MAX_JSON_BYTES:
            raise UserError(f"{path}: {size} bytes; expected at most {MAX_JSON_BYTES}")
        return _parse(path, path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"{path}: no such file", tip="name the folder of a checkpoint") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error


def _parse(path: Path, data: bytes) -> Mapping[str, JsonValue]:
    try:
        value: JsonValue = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UserError(f"{path}: expected a JSON object")
    return value
