"""The API's errors, declared once: `plain` and `coded` are the table, `exceptions` raises its entries."""
