"""Documentation for shops' developers: the guide, the API reference, and a collection of requests."""
