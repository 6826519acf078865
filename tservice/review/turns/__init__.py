"""Files at the ends of turns: recording them, and comparing with them."""
