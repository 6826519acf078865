"""What an agent does, and when it can be given a prompt."""
