"""Dates and times in the admin: short, and never without their time zone."""

DATE_FORMAT = "j M Y"
DATETIME_FORMAT = "j M Y, H:i e"
