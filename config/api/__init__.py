"""The API as a whole: content, errors, bodies, middleware."""
