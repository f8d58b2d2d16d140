"""Talk to servers: endpoint and streams, what a server is, servers that are started here."""
