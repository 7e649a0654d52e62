"""The forms that take a code: counted, and each code is taken once."""

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, BaseAuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.utils import decrypt
from django.db import transaction
from django.db.models import Q

from config.login.limits import count_code


class CountedCode(BaseAuthenticateForm):
    """Counts a code before it is compared, and refuses a TOTP code that any process took before."""

    def clean_code(self) -> str:
        count_code(self.user)
        code: str = super().clean_code()
        if self.authenticator.type == Authenticator.Type.TOTP and not use_code(self.authenticator, code):
            self._emit_authentication_failed(self.authenticator)
            raise get_adapter().validation_error("incorrect_code")
        return code


class CodeForm(CountedCode, AuthenticateForm):
    """The code at the log-in."""


class ConfirmationForm(CountedCode, ReauthenticateForm):
    """The code that confirms a change of the own factors."""


class TOTPForm(ActivateTOTPForm):
    """The first code of an authenticator app."""

    def clean_code(self) -> str:
        count_code(self.user)
        return str(super().clean_code())


def use_code(authenticator: Authenticator, code: str) -> bool:
    """Keep a TOTP code's period in the database; False where it or a later one was taken before (RFC 6238, 5.2).

    allauth remembers codes in a cache, which other processes do not share.
    """
    period = period_of(decrypt(authenticator.data["secret"]), code)
    is_new = Q(data__last_period__isnull=True) | Q(data__last_period__lt=period)
    with transaction.atomic():  # the secret may be encrypted again meanwhile
        row = Authenticator.objects.select_for_update().filter(is_new, pk=authenticator.pk).first()
        if row is not None:
            row.data["last_period"] = period
            row.save(update_fields=["data"])
    return row is not None


def period_of(secret: str, code: str) -> int:
    """Return the number of the period that a code belongs to; 0, which is long over, where there is none."""
    for period in totp.yield_hotp_counters_from_time():
        if compare_user_code(actual=code, expected=totp.format_hotp_value(totp.hotp_value(secret, period))):
            return int(period)
    return 0
