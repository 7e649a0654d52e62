"""The API's errors, declared once: `plain` and `coded` read their tables, `exceptions` raises its entries."""
