"""Rules that interpret terminal text, without I/O: escape sequences, frames, dialogs, composers."""
