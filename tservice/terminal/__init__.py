"""Pure rules about terminal text: escapes, frames, dialogs, composers."""
