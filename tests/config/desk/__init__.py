"""Tests of the staff's desk."""
