"""Deposit slips: asked for by staff for labels, kept as files, as no carrier gives one a second time."""
