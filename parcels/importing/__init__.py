"""The shops' imports: lines are read, then written."""
