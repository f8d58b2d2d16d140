"""Ask, judge, compare, decide; `servers` talks to endpoints, `decision` holds the gate and its statistics."""
