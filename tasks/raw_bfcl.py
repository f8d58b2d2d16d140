"""The edge of BFCL's terms: what a raw sample says of them, read and written."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from ..parsers.result import Json
from ..parsers.tools import Tools
from .bfcl_terms import BfclRule, BfclTerms, Declared, FunctionTerms, Language, terms_of_schema
from .bfcl_values import is_known_type
from .sample import ExpectedCall
from .values import member_path, shown

_Word: TypeAlias = str
_RULES: TypeAlias = Literal["simple", "multiple", "parallel", "irrelevance", "relevance"]
_LANGUAGES: TypeAlias = Literal["python", "java", "javascript"]


class RawTerms(BaseModel):
    """The member `expected.bfcl`.

    `types` gives the published type words, `[word]` or `[word, word of its items]`, of functions whose JSON
    Schema does not tell them: those of the Java and JavaScript categories.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    rule: _RULES | None = None
    language: _LANGUAGES = "python"
    types: dict[str, dict[str, list[_Word]]] = {}


class TermsError(ValueError):
    """Terms that the benchmark's checker could not judge by; `field` is the member of `expected` at fault."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


def terms_from_raw(raw: RawTerms | None, calls: Sequence[ExpectedCall], tools: Tools) -> BfclTerms:
    """Return the terms of a sample.

    Args:
        raw: What it says of them; None if it only says `"match": "bfcl"`. The rule is then told by how many
            calls are due, and the types by the JSON Schema of the tools.
        calls: The calls that are due, each of a declared tool.
        tools: The declared tools.

    Raises:
        TermsError: The rule does not fit the calls, or a due argument has a type the benchmark has no word
            for.
    """
    raw = raw or RawTerms()
    language = Language(raw.language)
    rule = _rule_for(calls) if raw.rule is None else BfclRule(raw.rule)
    if problem := _rule_problem(rule, calls):
        raise TermsError("bfcl.rule", problem)
    functions = {call.name: _function(raw, call.name, tools) for call in calls}
    for position, call in enumerate(calls):
        for name in call.arguments:
            declared = functions[call.name].parameters.get(name)
            if declared is not None and not is_known_type(declared, language):
                field = member_path(f"calls[{position}].arguments", name)
                raise TermsError(field, f"is declared as {declared.shown}, a type that bfcl cannot match")
    return BfclTerms(rule, functions, language)


def terms_to_json(terms: BfclTerms) -> dict[str, Json]:
    """Return the raw terms that read as these."""
    raw: dict[str, Json] = {"rule": terms.rule.value}
    if terms.language is not Language.PYTHON:
        raw["language"] = terms.language.value
        raw["types"] = {name: words_to_json(function) for name, function in terms.functions.items()}
    return raw


def words_to_json(function: FunctionTerms) -> Mapping[str, Json]:
    """Return the type words of a function's parameters, as `types` holds them."""
    return {
        name: [one.word] if one.item is None else [one.word, one.item]
        for name, one in function.parameters.items()
    }


def _function(raw: RawTerms, name: str, tools: Tools) -> FunctionTerms:
    of_schema = terms_of_schema(tools.functions[name])
    if name not in raw.types:
        return of_schema
    declared: dict[str, Declared] = {}
    for parameter, words in raw.types[name].items():
        match words:
            case [word]:
                declared[parameter] = Declared(word)
            case [word, item]:
                declared[parameter] = Declared(word, item)
            case _:
                field = member_path(member_path("bfcl.types", name), parameter)
                raise TermsError(field, f"is {shown([*words])}, expected one type word or two")
    return FunctionTerms(declared, of_schema.required)


def _rule_for(calls: Sequence[ExpectedCall]) -> BfclRule:
    match len(calls):
        case 0:
            return BfclRule.IRRELEVANCE
        case 1:
            return BfclRule.SIMPLE
        case _:
            return BfclRule.PARALLEL


def _rule_problem(rule: BfclRule, calls: Sequence[ExpectedCall]) -> str | None:
    match rule:
        case BfclRule.IRRELEVANCE | BfclRule.RELEVANCE if calls:
            return f'is "{rule.value}", which goes with no expected call'
        case BfclRule.SIMPLE if len(calls) != 1:
            return 'is "simple", which goes with exactly one expected call'
        case BfclRule.MULTIPLE if not calls:
            return 'is "multiple", which goes with at least one expected call'
        case _:
            return None
