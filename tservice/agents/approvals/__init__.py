"""The inbox of dialogs, and answering them."""
