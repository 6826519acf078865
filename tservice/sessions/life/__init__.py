"""Creation, start, observation, adoption and end of sessions."""
