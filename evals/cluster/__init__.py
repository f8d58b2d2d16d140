"""Asking from many machines: a crew of workers sends, the one driver keeps rounds, limits and the journal."""
