"""Asking: what is due, sent in order, until nothing is left to ask."""
