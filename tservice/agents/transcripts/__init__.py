"""What the agents' own records of their conversations say."""
