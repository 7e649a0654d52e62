"""The sandbox's beta."""
