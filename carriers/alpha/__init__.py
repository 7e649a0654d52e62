"""alpha, the express carrier, which speaks SOAP."""
