"""Thinking ends at its closing tag and nowhere else."""

import pytest
from draftproof.parsers.hermes import parse
from draftproof.parsers.reasoning import split_reasoning

CALL = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'


@pytest.mark.parametrize(
    ("text", "starts", "thinking", "answer"),
    [
        ("<think>a</think>b", False, "a", "b"),
        ("\n <think>a</think>b", False, "a", "b"),
        ("a</think>b", True, "a", "b"),
        ("a</think>b", "auto", "a", "b"),
        ("<think>a</think>b", True, "a", "b"),
        ("a</think>b", False, "", "a</think>b"),
        ("ab", "auto", "", "ab"),
        ("x <think>a</think>b", "auto", "", "x <think>a</think>b"),
        (f"{CALL}</think>", "auto", "", f"{CALL}</think>"),
        ("<think>a</think>b</think>c", False, "a", "b</think>c"),
        ("<thin", False, "", "<thin"),
    ],
)
def test_thinking_is_split_from_the_answer(text, starts, thinking, answer):
    """The opening tag may stand in the text or in the prompt."""
    split = split_reasoning(text, starts)
    assert text[slice(*split.thinking)] == thinking
    assert text[split.answer :] == answer
    assert not split.is_open


def test_a_text_that_ends_inside_thinking_is_open():
    """Without the closing tag everything is thinking."""
    parsed = parse("still thinking", starts_in_reasoning=True)
    assert (parsed.reasoning, parsed.content, parsed.open) == ("still thinking", "", True)
    assert [(defect.code.value, tuple(defect.span)) for defect in parsed.defects] == [
        ("unclosed_reasoning", (0, 0))
    ]


def test_a_call_inside_thinking_is_no_call():
    """A call that is drafted inside thinking is reported, and the one after thinking is read."""
    parsed = parse(f"<think>{CALL}</think>{CALL}")
    assert [defect.code.value for defect in parsed.defects] == ["call_in_reasoning"]
    assert len(parsed.calls) == 1


def test_talk_about_tags_inside_thinking_is_nothing():
    """A model may think about the form of its calls."""
    assert parse(f"<think>I write <tool_call> and </tool_call>.</think>{CALL}").defects == ()


def test_thinking_glued_to_a_call_is_split():
    """No newline is needed between thinking and a call."""
    parsed = parse(f"<think>a</think>{CALL}")
    assert (len(parsed.calls), parsed.reasoning, parsed.content) == (1, "a", "")
