r"""Qwen3 XML: Qwen3-Coder, Qwen3.5, 3.6 and 3.8, Nemotron 3, Step 3.5 and 3.7, MiMo-V2.

    output    := thinking? (content | call)*
    call      := "<tool_call>" ws function ws "</tool_call>"
    function  := "<function=" NAME ">" ws (parameter ws)* "</function>"
    parameter := "<parameter=" KEY ">" "\n"? VALUE "\n"? "</parameter>"
    ws        := [ \t\n\r]*        # the template writes one newline at each place, MiMo none around VALUE

VALUE is raw text up to the first `</parameter>`, without exactly one newline at either end: nothing is
escaped, and the tool's schema alone says what is a string and what is JSON.
"""

import json
import re
from collections.abc import Sequence

from .blocks import BlockReader
from .codes import DefectCode, NoteCode
from .dialect import Dialect
from .families import call_of_own
from .json_path import shorten
from .raw_blocks import BlockBrokenError, Draft, RawBlockReader, RawGrammar
from .reasoning import StartsInReasoning, split_reasoning
from .result import Json, JsonObject, Parsed, Span
from .tools import Tools
from .transcript import Transcript
