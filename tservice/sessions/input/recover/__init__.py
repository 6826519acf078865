"""Data about input that a restart of the service finds: unconfirmed prompts and pane marks."""
