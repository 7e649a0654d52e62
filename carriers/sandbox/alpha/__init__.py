"""alpha's services, as the sandbox plays them."""
