"""The API's paths: a new version is one edit."""

VERSION = "/public/v1"
TRACKING = f"{VERSION}/tracking"
PARCELS = f"{TRACKING}/parcels/"
SEARCH = f"{TRACKING}/search"
SHIPMENTS = f"{TRACKING}/shipments"
POINTS = f"{TRACKING}/pickup-points"
