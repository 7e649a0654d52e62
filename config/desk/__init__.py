"""The staff's desk: pages that span parcels and labels."""
