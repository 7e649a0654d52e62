"""Figures of parcels: small tables that the staff's first page reads, and the background process keeps up to date."""
