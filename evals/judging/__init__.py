"""Judging: an answer becomes a grade, two grades a finding with its cause."""
