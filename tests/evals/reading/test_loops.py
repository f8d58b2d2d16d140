"""A tail that repeats itself."""

import pytest
from draftproof.evals.reading.loops import loops


@pytest.mark.parametrize(
    ("text", "is_loop"),
    [
        ("", False),
        ("ha ha ha ha", False),
        ("abc" * 100, True),
        ("Let me see. " + "the same again and " * 30, True),
        ("Let me see. " + "the same again and " * 30 + "the sam", True),
        ("x" * 200, True),
        # The repetition fills less than half of the text.
        ("".join(chr(97 + i * 7 % 26) + str(i) for i in range(400)) + "no no " * 20, False),
        # A period of 250 characters is no loop by the rule, however often it comes.
        ("".join(chr(33 + i * 31 % 90) for i in range(90)) * 2 + "".join(str(i) for i in range(400)), False),
        ("".join(f"{i:04}" for i in range(63)) * 12, False),
        (" ".join(f"item {i}" for i in range(200)), False),
        ('{"numbers": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]}', False),
    ],
)
def test_a_loop_repeats_with_a_short_period_over_half_of_the_text(text, is_loop):
    """Short words said twice, long periods and counting are no loops."""
    assert loops(text) is is_loop
