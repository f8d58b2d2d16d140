"""What the model said: strict, sans-I/O parsers, one dialect a file. They report and never repair."""
