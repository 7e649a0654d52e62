"""Dates and times in the admin: short; each page says once which time zone they are of."""

DATE_FORMAT = "d/m/Y"
DATETIME_FORMAT = "d/m/Y H:i"
