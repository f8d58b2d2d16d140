"""Raw text: the server's own template without its parser, and the text behind tokens that it gave.

    vLLM       POST /tokenize {"messages", "tools"} → "tokens" → POST /v1/completions {"prompt": [ids]}
               POST /detokenize {"tokens"} → "prompt": the text of a generation, before the parser read it
    llama.cpp  POST /apply-template {"messages", "tools"} → "prompt" → POST /v1/completions {"prompt": text}

`tool_choice: "none"` is no such route: servers strip the call from what they return all the same. Pure: this
module says what to send and reads what came back; `endpoint.py` sends it.
"""

from collections.abc import Sequence

from pydantic import JsonValue

from ...errors import UserError
from ..attempt import Body
from .page import Page, read_object
from .response import BadResponseError, glimpse
from .server import ServerKind

# What goes into the prompt, and therefore to the template and not to the completion.
_TEMPLATE_FIELDS = frozenset(
    ("messages", "tools", "tool_choice", "parallel_tool_calls", "chat_template", "chat_template_kwargs")
)
# Engines with a page that renders a chat body.
RENDERING_KINDS = frozenset((ServerKind.VLLM, ServerKind.LLAMA_CPP))
_RENDERED_FIELDS = ("messages", "tools", "chat_template", "chat_template_kwargs")


def render_page(kind: ServerKind, chat: Body, arm: str) -> Page:
    """Return the request that has a server render a chat body with its own template.

    Raises:
        UserError: The server is of a kind that has no such page (exit code 4).
    """
    rendered = {name: chat[name] for name in _RENDERED_FIELDS if name in chat}
    match kind:
        case ServerKind.VLLM:
            return Page("/tokenize", {"model": chat["model"], **rendered, "add_generation_prompt": True})
        case ServerKind.LLAMA_CPP:
            return Page("/apply-template", rendered)
        case _:
            raise UserError(
                f"arm {arm}: mode raw needs vLLM (/tokenize) or llama.cpp (/apply-template); this server is "
                f"{'not known' if kind is ServerKind.UNKNOWN else kind.value}",
                tip='use mode "native", or "prompted", which works on any server',
                exit_code=4,
            )


def read_rendered(text: str) -> str | list[JsonValue]:
    """Return the prompt out of the server's answer: text, or token ids.

    Raises:
        BadResponseError: It holds neither.
    """
    page = read_object(text)
    match page.get("tokens", page.get("prompt")):
        case str(prompt):
            return prompt
        case [*ids] if ids and all(isinstance(one, int) for one in ids):
            return ids
        case _:
            raise BadResponseError(f"no prompt in the rendered template: {glimpse(text)}")


def completion_body(chat: Body, prompt: str | Sequence[JsonValue]) -> dict[str, JsonValue]:
    """Return the text completion that asks what a chat body asks, with the prompt as it was rendered."""
    kept = {name: value for name, value in chat.items() if name not in _TEMPLATE_FIELDS}
    if isinstance(prompt, str):
        return {**kept, "prompt": prompt}
    # vLLM: special tokens are text here, or markup made of them would vanish.
    return {**kept, "prompt": list(prompt), "skip_special_tokens": False}


def decode_page(model: str, token_ids: Sequence[int]) -> Page:
    """Return the request for the text of a generation's tokens (vLLM)."""
    return Page("/detokenize", {"model": model, "tokens": list(token_ids)})


def read_decoded(text: str) -> str | None:
    """Return the text behind the tokens; None where the server did not give it."""
    prompt = read_object(text).get("prompt")
    return prompt if isinstance(prompt, str) else None
