"""What to ask, and what a right answer is: samples, suites, loaders, matching."""
