"""A server that plays both carriers over real HTTP, so that everything above them runs without a contract."""
