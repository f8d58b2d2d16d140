"""Decide: tests and intervals, power, evidence on the way, the gate."""
