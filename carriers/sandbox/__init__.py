"""An HTTP server that stands in for both carriers, so that the service runs without a contract."""
