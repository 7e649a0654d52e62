"""The URL paths of the API and of PDFs, declared once."""

API_ROOT = "/public/"
TRACKING = f"{API_ROOT}v1/tracking"
FILES = "/files/"
PREFIXES = (API_ROOT, FILES)
PARCEL = f"{TRACKING}/parcels/"
SEARCH = f"{TRACKING}/search"
