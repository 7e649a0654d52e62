"""beta, the postal carrier: JSON out, multipart back."""
