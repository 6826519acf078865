"""Users of the operating system, and working as them."""
