"""The parts of every path of the API: errors, strict fields, authentication, limits."""
