"""Template tags of the labels app."""
