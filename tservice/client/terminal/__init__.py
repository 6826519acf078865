"""What C{tsctl} does with the terminal that it was started in."""
