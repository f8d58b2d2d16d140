"""Probe a server, or a checkpoint: what it does, shown by effects."""
