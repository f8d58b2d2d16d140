"""Every code is explained, once, and the reference is up to date."""

from pathlib import Path

import pytest
from draftproof.errors import UserError
from draftproof.evals.attempt import ErrorType
from draftproof.evals.judging.attribute import (
    CONTEXT_LIMIT,
    ONLY_BATCHED,
    ONLY_WARM,
    SERVER_LIMIT,
    STILL_TRUNCATED,
)
from draftproof.evals.judging.ways import WayCode
from draftproof.evals.reading.answer import Ending
from draftproof.evals.runs.divergence import DivergenceLabel
from draftproof.parsers.codes import DefectCode, NoteCode
from draftproof.reports.explained import (
    GROUPS,
    explanation,
    explanations,
    render_codes,
    render_explanation,
    render_reference,
)
from draftproof.tasks.differences import DifferenceCode

OTHERS = (
    CONTEXT_LIMIT,
    SERVER_LIMIT,
    STILL_TRUNCATED,
    "cap_cut",
    "cap_reasoning",
    "missing_attempt",
    "no_reference",
)
CODES = [
    *WayCode,
    *DivergenceLabel,
    ONLY_BATCHED,
    ONLY_WARM,
    *DefectCode,
    *NoteCode,
    *DifferenceCode,
    *Ending,
    *ErrorType,
    *OTHERS,
]


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_explained(code):
    """With a meaning, an example, a usual cause and what to do."""
    entry = explanation(str(code))
    assert entry is not None
    assert all(part.strip() for part in entry)


def test_no_code_is_explained_twice_and_none_that_there_is_not():
    """A code has one meaning."""
    named = [entry.code for group in GROUPS for entry in group.entries]
    assert len(named) == len(set(named)) == len(explanations())
    assert set(named) == {str(code) for code in CODES}


def test_the_reference_is_up_to_date():
    """docs/codes.md is what `draftproof explain --markdown` prints."""
    file = Path(__file__).parents[2] / "docs" / "codes.md"
    assert file.read_text(encoding="utf-8") == render_reference(), (
        "draftproof explain --markdown > docs/codes.md"
    )


def test_one_code_is_explained_in_a_few_lines():
    """Meaning first, then example, cause and advice."""
    text = render_explanation("name_is_expression")
    assert text.startswith("name_is_expression  (Defects of names)\n\nThe name holds the arguments")
    assert "get_weather(location='Boston')" in text
    assert "what to do:" in text
    assert all(str(code) in render_codes() for code in CODES)


def test_an_unknown_code_names_its_neighbours():
    """A slip of the keyboard is one clear error."""
    with pytest.raises(UserError, match="no code is named 'cap_cutt'") as caught:
        render_explanation("cap_cutt")
    assert caught.value.tip == "did you mean cap_cut?"
