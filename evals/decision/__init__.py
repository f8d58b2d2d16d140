"""Decide: tests and intervals, power, the gate, its history, the design of a run."""
