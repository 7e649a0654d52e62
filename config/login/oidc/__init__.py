"""The staff's one sign-on: OpenID Connect, by allauth, with the roles that the issuer's groups mean."""
