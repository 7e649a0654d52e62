"""British English, with the time zone spelled out."""
