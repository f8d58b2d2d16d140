"""One entry of BFCL as a sample: its prompt and tools converted, its ground truth kept as published."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .bfcl_reference import unpassable
from .bfcl_schema import Names, tool_of_function
from .bfcl_spec import BfclSpec, Unpassable
from .bfcl_terms import FunctionTerms, Language, language_of_category, rule_of_category, terms_of_description
from .bfcl_values import OMITTED, is_known_type
from .excluded import Excluded
from .raw_bfcl import words_to_json
from .raw_sample import SampleError, sample_from_json
from .sample import Sample
from .values import shown

_RawValues: TypeAlias = dict[str, list[Any]]

_NO_TOOL = "declares no tool, so there is nothing that could be called"


class EntryError(ValueError):
    """An entry, or its ground truth, that is none."""


class _Raw(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    id: str


class _RawFunction(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    name: str
    description: str = ""
    parameters: dict[str, Any]


class _RawEntry(_Raw):
    question: list[list[dict[str, Any]]] = Field(min_length=1)
    function: list[_RawFunction]


class _RawTruth(_Raw):
    ground_truth: list[dict[str, _RawValues]]


class Truth(BaseModel):
    """The ground truth of one entry: the calls that are due, each a name and the right values."""

    id: str
    calls: list[tuple[str, _RawValues]]


def read_truth(raw: object) -> Truth:
    """Read a line of a `possible_answer` file.

    Raises:
        EntryError: It is not of the published form.
    """
    try:
        read = _RawTruth.model_validate(raw)
    except ValidationError as error:
        raise EntryError(_problem(error)) from None
    calls: list[tuple[str, _RawValues]] = []
    for call in read.ground_truth:
        if len(call) != 1:
            raise EntryError(f"ground_truth: names {len(call)} functions in one call, expected one")
        calls += call.items()
    return Truth(id=read.id, calls=calls)


def read_entry(
    raw: object, truth: Truth | None, category: str, spec: BfclSpec, layout: str
) -> Sample | Excluded:
    """Read one entry.

    Args:
        raw: A line of a category's file.
        truth: Its ground truth; None where no particular call is due.
        category: As published.
        spec: How names are written, and what becomes of entries that no answer can pass.
        layout: `v3` or `v4`; recorded in the sample's metadata, with the way of writing names.

    Returns:
        The sample, or why there is none.

    Raises:
        EntryError: The entry is not of the published form.
    """
    try:
        entry = _RawEntry.model_validate(raw)
    except ValidationError as error:
        raise EntryError(_problem(error)) from None
    if len(entry.question) != 1:
        raise EntryError(f"question: has {len(entry.question)} turns, expected one")
    if not entry.function:
        return Excluded(entry.id, category, _NO_TOOL)
    language, due = language_of_category(category), [] if truth is None else truth.calls
    terms = {one.name: terms_of_description(one.parameters) for one in entry.function}
    if reason := _unknown_type(due, terms, language):
        return Excluded(entry.id, category, reason)
    sample = _sample(entry, due, terms, category, spec.names, layout)
    if spec.unpassable is Unpassable.EXCLUDE and sample.expected is not None:
        reason = unpassable(sample.expected)
        if reason is not None:
            return Excluded(entry.id, category, f"no answer can pass: {reason}")
    return sample


def _sample(
    entry: _RawEntry,
    due: Sequence[tuple[str, _RawValues]],
    terms: dict[str, FunctionTerms],
    category: str,
    names: Names,
    layout: str,
) -> Sample:
    language = language_of_category(category)
    bfcl: dict[str, Any] = {"rule": rule_of_category(category).value}
    if language is not Language.PYTHON:
        bfcl |= {
            "language": language.value,
            "types": {names.apply(name): words_to_json(terms[name]) for name, _ in due if name in terms},
        }
    raw: dict[str, Any] = {
        "id": entry.id,
        "category": category,
        "messages": entry.question[0],
        "tools": [
            tool_of_function(one.name, one.description, one.parameters, names, language)
            for one in entry.function
        ],
        "expected": {
            "calls": [_due_call(names.apply(name), values) for name, values in due],
            "match": "bfcl",
            "bfcl": bfcl,
        },
        "metadata": {"bfcl": {"layout": layout, "names": names.value}},
    }
    try:
        return sample_from_json(raw)
    except SampleError as error:
        raise EntryError(str(error)) from None


def _due_call(name: str, values: _RawValues) -> dict[str, Any]:
    optional = [parameter for parameter, right in values.items() if OMITTED in right]
    return {"name": name, "arguments": values, **({"optional": optional} if optional else {})}


def _unknown_type(
    due: Sequence[tuple[str, _RawValues]], terms: dict[str, FunctionTerms], language: Language
) -> str | None:
    """Say which argument that is due has a type on which the benchmark's checker crashes."""
    for name, values in due:
        for parameter in values:
            declared = terms[name].parameters.get(parameter) if name in terms else None
            if declared is not None and not is_known_type(declared, language):
                what = f"{name} declares {shown(parameter)} as {declared.shown}"
                return f"{what}, on which the benchmark's own checker crashes"
    return None


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]
