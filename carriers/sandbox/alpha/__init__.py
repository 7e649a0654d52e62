"""The sandbox's alpha."""
