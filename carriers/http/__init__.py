"""HTTP to a carrier: connections with a deadline, and the message formats."""
