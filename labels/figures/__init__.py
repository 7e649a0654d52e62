"""Figures of labels: small tables that the staff's pages read, and the background process keeps up to date."""
