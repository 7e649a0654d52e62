"""Shops' contracts with carriers, their credentials, and the carriers' clients."""
