"""A model's text made harmless: control characters, terminal escapes and direction marks become visible."""

import re

# C0 and C1 controls, DEL, line separators, bidirectional overrides, zero-width characters, surrogates, two
# noncharacters that XML has no place for.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""The text with every hidden character as its escape (`\x1b`, `\u202e`); newline and tab stay."""
    return _HIDDEN.sub(_escape, text)


def visible_line(text: str) -> str:
    """The same on one line."""
    return visible(text).replace("\n", "⏎").replace("\t", "⇥")


def shortened(text: str, size: int) -> str:
    """At most `size` characters, the end left out with an ellipsis."""
    return text if len(text) <= size else f"{text[: max(0, size - 1)]}…"


def _escape(match: "re.Match[str]") -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
