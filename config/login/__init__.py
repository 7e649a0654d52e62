"""The staff's log-in: password and second factor, their limits, and sessions that end."""
