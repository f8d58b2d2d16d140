"""Show it: terminal, Markdown, JSON, JUnit, annotations. Every report returns text; the command line writes."""
