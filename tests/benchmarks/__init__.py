"""Benchmarks: look-ups against a bare program, a mixed load, and retention, each on servers of its own."""
