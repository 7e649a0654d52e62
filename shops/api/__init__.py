"""What every path of the API has: errors, strict fields, authentication, limits."""
