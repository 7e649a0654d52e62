"""Drills: the service and the carriers' sandbox as processes, with kills, outages and a sick carrier in between."""
