"""Runs at rest: joined, packed into Parquet, and opened again, in whichever form they stand."""
