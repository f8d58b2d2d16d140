"""A folder in the layout of BFCL's files, with entries of our own writing."""

import json


def function(name="cafe.order", properties=None, required=("drink",)):
    properties = properties or {
        "drink": {"type": "string"},
        "price": {"type": "float", "description": "Paid."},
    }
    return {
        "name": name,
        "description": "Order something.",
        "parameters": {"type": "dict", "properties": properties, "required": list(required)},
    }


def entry(entry_id, functions=None, ask="A tea, please."):
    functions = [function()] if functions is None else functions
    return {"id": entry_id, "question": [[{"role": "user", "content": ask}]], "function": functions}


def truth(entry_id, *calls):
    calls = calls or ({"cafe.order": {"drink": ["tea", "Tea"], "price": ["", 2.5]}},)
    return {"id": entry_id, "ground_truth": list(calls)}


def write(folder, category, entries, truths=(), version=4):
    name = f"BFCL_v{version}_{category}.json"
    (folder / "possible_answer").mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("".join(json.dumps(one) + "\n" for one in entries), encoding="utf-8")
    if truths:
        lines = "".join(json.dumps(one) + "\n" for one in truths)
        (folder / "possible_answer" / name).write_text(lines, encoding="utf-8")
    return folder
