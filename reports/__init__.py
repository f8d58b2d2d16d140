"""Show it: terminal, Markdown, JSON, JUnit, annotations. Every report returns text; only `cli` writes it."""
