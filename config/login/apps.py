"""allauth's app of accounts, with what our log-in listens to."""

from allauth.account.apps import AccountConfig as AllauthAccountConfig


class AccountConfig(AllauthAccountConfig):
    """Loads the modules that receive the log-in's signals."""

    def ready(self) -> None:
        super().ready()
        from config.login import audit_trail, devices, factors, sessions  # noqa: F401, PLC0415 - they need the models
