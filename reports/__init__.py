"""Show it: terminal, Markdown, JSON. Every report returns text; only the command line writes files."""
