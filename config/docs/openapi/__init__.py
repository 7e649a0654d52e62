"""The API's description in OpenAPI 3.1: generated from the code, kept in `openapi.yaml`, served from there."""
