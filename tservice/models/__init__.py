"""Model endpoints of one's own, and how agents are made to use them."""
