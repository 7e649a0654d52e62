"""Django's PostgreSQL backend with several hosts, bounded waits and a cheaper health check."""
