"""Users of the operating system, and operations with their rights."""
