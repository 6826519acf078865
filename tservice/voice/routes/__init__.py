"""Operations of dictation, and the relay of one dictation."""
