"""Shipping labels: orders, purchase, storage and retrieval."""
