"""Webhooks: a shop's endpoints are notified by signed requests, at least once and in order for one parcel."""
