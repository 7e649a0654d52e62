"""The test suite, its factories, and the real services it runs on."""
