"""What befalls containers, and what is told of it to the sessions in them."""
