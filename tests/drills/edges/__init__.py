"""Acts in which a clock, a gateway, a frozen process or the database loses track of a purchase."""
