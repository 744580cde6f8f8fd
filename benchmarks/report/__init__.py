"""Report pages: how long one takes to make, how large it is, and how fast it is in a browser."""
