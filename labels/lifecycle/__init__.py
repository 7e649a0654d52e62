"""A label's life: its purchase, its reconciliation, staff's decisions and its cancellation."""
