"""The API's description in OpenAPI 3.1: `source.yaml`, kept by hand, is completed into `openapi.yaml`."""
