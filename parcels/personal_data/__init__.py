"""Customers' personal data in parcels: the columns, their erasure, their removal by age."""
