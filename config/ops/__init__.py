"""Serving, health, metrics and logs."""
