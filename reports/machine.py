"""The report for machines: summary.json as text."""

import json

from ..evals.summing_up.summary import Summary


def render_json(summary: Summary) -> str:
    """The content of summary.json."""
    return json.dumps(summary.to_json(), ensure_ascii=False, indent=2) + "\n"
