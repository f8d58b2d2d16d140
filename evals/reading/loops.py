"""Does the tail of a text repeat itself? A model that loops never stops; a larger cap is no cure."""

MAX_PERIOD = 200  # characters
MIN_REPEATS = 4
MIN_LENGTH = 60  # characters of repeating tail: "ha ha ha ha" is no loop


def loops(text: str) -> bool:
    """True when the tail repeats with a period of at most 200 characters over the second half of the text.

    The last repeat may be cut anywhere. Tokens are not in the text, so the rule's "32 tokens" is read as its
    200 characters.
    """
    size = len(text)
    if size < MIN_LENGTH:
        return False
    tail = text[size // 2 :]
    # The smallest period of a string from its longest border (Knuth, Morris, Pratt); linear in its length.
    period = len(tail) - _borders(tail)[-1]
    return period <= min(MAX_PERIOD, len(tail) // MIN_REPEATS)


def _borders(text: str) -> list[int]:
    """For each prefix, the length of its longest proper border."""
    borders = [0] * len(text)
    length = 0
    for index in range(1, len(text)):
        while length and text[index] != text[length]:
            length = borders[length - 1]
        if text[index] == text[length]:
            length += 1
        borders[index] = length
    return borders
