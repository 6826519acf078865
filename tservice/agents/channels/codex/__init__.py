"""Channel of Codex: the service is a second client of the server of each session."""
