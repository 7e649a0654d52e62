"""Customers' personal data in labels: the columns, their erasure, their removal by age."""
