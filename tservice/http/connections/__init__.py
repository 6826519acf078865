"""What one client connection speaks: HTTP/1.1 or HTTP/2, within bounds."""
