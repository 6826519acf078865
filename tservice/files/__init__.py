"""Files of session workspaces: browsing, editing, following, uploading and downloading."""
