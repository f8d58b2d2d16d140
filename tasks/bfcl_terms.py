"""What matching by BFCL's rules needs beside the calls that are due: rule, language, declared types.

The Berkeley Function-Calling Leaderboard (BFCL) checks a value by the type words of its own function
descriptions. For its Python categories they can be read off the JSON Schema that a tool declares; for Java
and JavaScript every parameter is shown as a string, so the published words are kept beside the calls.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ..parsers.result import Json, JsonObject


class BfclRule(StrEnum):
    """Which checker an entry is judged by."""

    SIMPLE = "simple"  # exactly one call
    MULTIPLE = "multiple"  # as many calls as are due, the first one checked
    PARALLEL = "parallel"  # any order, greedily
    IRRELEVANCE = "irrelevance"  # no call
    RELEVANCE = "relevance"  # any call


class Language(StrEnum):
    """What arguments are written in: JSON values, or strings that hold source text."""

    PYTHON = "python"
    JAVA = "java"
    JAVASCRIPT = "javascript"


@dataclass(frozen=True, slots=True)
class Declared:
    """A declared type: the published word, and the word of its items where there is one."""

    word: str
    item: str | None = None

    @property
    def shown(self) -> str:
        """The type as a message names it: `array<float>`."""
        return f"`{self.word}`" if self.item is None else f"`{self.word}<{self.item}>`"


@dataclass(frozen=True, slots=True)
class FunctionTerms:
    """What the checker reads of one function: its parameters' types, and which of them it must be given."""

    parameters: Mapping[str, Declared]
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BfclTerms:
    """The terms of one sample; `functions` holds at least those that are due."""

    rule: BfclRule
    functions: Mapping[str, FunctionTerms]
    language: Language = Language.PYTHON


_WORD_OF_TYPE = {"number": "float", "object": "dict"}


def rule_of_category(category: str) -> BfclRule:
    """Return the rule of a published category: the benchmark tests for substrings, in this order."""
    if "irrelevance" in category:
        return BfclRule.IRRELEVANCE
    if "relevance" in category:
        return BfclRule.RELEVANCE
    if "parallel" in category:
        return BfclRule.PARALLEL
    if "multiple" in category:
        return BfclRule.MULTIPLE
    return BfclRule.SIMPLE


def language_of_category(category: str) -> Language:
    """Return the language of a published category; `javascript` holds `java`."""
    for language in (Language.JAVASCRIPT, Language.JAVA):
        if language.value in category:
            return language
    return Language.PYTHON


def terms_of_schema(schema: JsonObject) -> FunctionTerms:
    """Read the terms of a function off its JSON Schema: the benchmark's own conversion, backwards.

    `number` is the word `float`, `object` is `dict`; a union, or no type at all, is a word the checker does
    not know.
    """
    published = terms_of_description(schema)
    declared = {
        name: Declared(
            _WORD_OF_TYPE.get(one.word, one.word),
            None if one.item is None else _WORD_OF_TYPE.get(one.item, one.item),
        )
        for name, one in published.parameters.items()
    }
    return FunctionTerms(declared, published.required)


def terms_of_description(parameters: JsonObject) -> FunctionTerms:
    """Read the terms of a function off its published description, whose type words are taken as they are."""
    required = parameters.get("required")
    return FunctionTerms(
        {name: _declared(member) for name, member in members_of(parameters, "properties").items()},
        tuple(name for name in required if isinstance(name, str)) if isinstance(required, list) else (),
    )


def _declared(member: Json) -> Declared:
    if not isinstance(member, Mapping):
        return Declared("")
    items = members_of(member, "items")
    return Declared(_word(member), _word(items) if "type" in items else None)


def members_of(schema: JsonObject, key: str) -> JsonObject:
    """Return the object under a key of a schema; an empty one if there is none."""
    members = schema.get(key)
    return members if isinstance(members, Mapping) else {}


def _word(schema: JsonObject) -> str:
    word = schema.get("type")
    return word if isinstance(word, str) else ""
