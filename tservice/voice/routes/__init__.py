"""Operations of dictation, and the relay for one dictation."""
