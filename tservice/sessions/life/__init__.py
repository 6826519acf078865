"""How sessions are made, started, watched, taken up again and ended."""
