"""draftproof: does turning on speculative decoding break tool calls, and if so, how?"""
