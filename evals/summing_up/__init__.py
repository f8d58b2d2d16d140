"""Summing up: all samples judged, every figure, the decision, and the files and comparisons made of them."""
