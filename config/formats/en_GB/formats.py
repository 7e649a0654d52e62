"""Dates and times in the admin: short; each page says once which time zone they are of."""

DATE_FORMAT = "j M Y"
DATETIME_FORMAT = "j M Y, H:i"
