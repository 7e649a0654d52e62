"""Management commands, and what all of them share."""
