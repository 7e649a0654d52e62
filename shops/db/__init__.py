"""Database fields and queries that every app shares."""
