"""Comparing: figures of arms, their speed, and counts of one arm against another."""
