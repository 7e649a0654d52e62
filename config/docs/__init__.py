"""What a shop's developer reads: the guide with its examples, the reference, and a collection of requests."""
