"""Does a text stop where more must follow?"""

import re

_FENCE = re.compile(r"^\s*```", re.MULTILINE)


def stops_inside(content: str) -> bool:
    """True when a text ends in an open code fence, or with a character after which text must follow."""
    content = content.strip()
    return len(_FENCE.findall(content)) % 2 == 1 or content.endswith((":", ",", "(", "[", "{"))
