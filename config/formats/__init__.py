"""How pages write dates and times."""
