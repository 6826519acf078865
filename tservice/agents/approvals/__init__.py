"""Inbox of agents' dialogs, and the delivery of people's answers to them."""
