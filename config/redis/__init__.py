"""The rate limit's counter in Redis."""
