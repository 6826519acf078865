"""The operations of dictation, and one dictation on its way."""
