"""beta, the postal carrier: JSON requests, multipart answers."""
