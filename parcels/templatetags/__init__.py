"""Template tags of the parcels app."""
