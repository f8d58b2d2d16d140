"""draftproof: does turning on speculative decoding break tool calls, and if so, how?"""

__version__ = "0.1.0"
