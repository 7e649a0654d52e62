"""allauth's app of accounts, without the middleware that it would put in front of the API."""

from allauth.account.apps import AccountConfig as AllauthAccountConfig


class AccountConfig(AllauthAccountConfig):
    """Loads the app's checks; `config.login.middleware.Account` calls its middleware for the admin only."""

    def ready(self) -> None:
        # They need the models; the latter four receive signals.
        from allauth.account import checks  # noqa: F401, PLC0415

        from config.login import audit_trail, devices, factors, sessions  # noqa: F401, PLC0415
