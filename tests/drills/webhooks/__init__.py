"""Drills of webhooks: kills, a receiver that is down for days, one that hangs, and the rate of deliveries."""
