"""HTTP to a carrier: connections with a deadline, and the formats that carriers speak."""
