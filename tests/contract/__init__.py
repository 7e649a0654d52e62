"""The API and its description, held against each other by schemathesis: the short form is a test."""
