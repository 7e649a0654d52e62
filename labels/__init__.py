"""Shipping labels: contracts with carriers, purchase, storage and retrieval."""
