"""Management commands, and their base."""
