"""Parsers of the transcripts of each agent CLI. They do no I/O, except that of a database."""
