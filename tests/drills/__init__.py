"""Drills: the service and the carriers' sandbox as real processes, with kills, outages and hung carriers."""
