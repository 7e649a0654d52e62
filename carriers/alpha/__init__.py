"""alpha, the express carrier: SOAP."""
