"""What stands in the place of a name is judged by its shape first."""

import pytest
from draftproof.parsers.names import name_defect
from draftproof.parsers.result import Span

from .marked import TOOLS


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("now", None),
        ("get_weather(location='Boston')", "name_is_expression"),
        ("get_weather()", "name_is_expression"),
        ('get_weather city="Oslo"', "name_is_expression"),
        ("get_weather, city=Oslo", "name_is_expression"),
        ('get_weather{"city": "Oslo"}', "name_is_expression"),
        ("get_weather = x", "name_is_expression"),
        ("<function=get_weather>", "markup_in_name"),
        ("get_weather</name>", "markup_in_name"),
        ("get_weather<|im_end|>", "markup_in_name"),
        ("functions.get_weather:0", "undeclared_function"),
        ("a.b/c-d:e", "undeclared_function"),
        ("get weather", "invalid_name"),
        ("get_weather\n", "invalid_name"),
        ("", "invalid_name"),
        ("7up", "invalid_name"),
        ("größe", "invalid_name"),
        ("a" * 129, "invalid_name"),
        ("a" * 128, "undeclared_function"),
    ],
)
def test_a_name_gets_one_code(name, code):
    """One name, one code: the finger-print before the form, the form before the declaration."""
    defect = name_defect(name, TOOLS, Span(0, 1))
    assert (None if defect is None else defect.code.value) == code
