"""Webhooks: a shop's endpoints are told of events by signed requests, at least once and in order for one parcel."""
