"""Template tags of the shops app."""
