"""Tests of the API against its description, by schemathesis; the short form is part of the test suite."""
