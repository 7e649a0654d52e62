"""Database fields, queries and migrations that all apps share."""
