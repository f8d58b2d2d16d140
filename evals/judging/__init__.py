"""Judging: a read answer becomes a grade, two grades a finding with its cause."""
