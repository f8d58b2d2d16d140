"""Ask, judge, compare, decide: plan, endpoint, journal, runner, grade, attribute, statistics, gate."""
