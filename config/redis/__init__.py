"""The rate limit's counter in Redis, with a deadline for each count."""
