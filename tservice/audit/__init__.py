"""Who did what, in a log that shows every later change of it."""
