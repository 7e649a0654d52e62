"""Django's PostgreSQL backend with fail-over between hosts, bounded waits and a cheaper health check."""
