"""What every feature stands on, and the form in which each joins the program."""
