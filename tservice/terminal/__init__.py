"""Pure rules for terminal text: escape sequences, frames, dialogs, composers."""
