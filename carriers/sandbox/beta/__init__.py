"""beta's service, as the sandbox plays it."""
