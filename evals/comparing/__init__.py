"""Comparing: figures of arms, and of one arm against another; what `summary.json` holds."""
