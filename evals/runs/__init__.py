"""The run directory: its files, written as answers come, and read back whole or block by block."""
