"""Fields of a chat-completions request that the plan sets: no sample and no arm may say otherwise."""

# For every arm and sample alike; one that changed them would compare unlike things.
PLANNED_FIELDS = frozenset(
    (
        *("model", "messages", "prompt", "tools", "tool_choice", "max_tokens", "max_completion_tokens"),
        *("temperature", "top_p", "seed", "stream", "stream_options", "n"),
    )
)
# Fields that a server refuses in a request without `tools`.
TOOL_FIELDS = frozenset(("parallel_tool_calls",))
