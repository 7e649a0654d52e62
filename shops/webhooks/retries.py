"""The schedule of attempts: ten over about 75 hours, with jitter."""

from datetime import timedelta
from random import uniform

from django.conf import settings

MINUTE_S, HOUR_S = 60, 3600
# The pauses after the first failed attempt, the second, and so on.
PAUSES_S = (5, 5 * MINUTE_S, 30 * MINUTE_S, *(hours * HOUR_S for hours in (2, 5, 10, 14, 20, 24)))
MAX_ATTEMPTS = len(PAUSES_S) + 1
SCHEDULE = timedelta(seconds=sum(PAUSES_S))
# Jitter only adds, so that the last attempt never comes before 75 hours.
MAX_JITTER = 0.1


def pause_after(attempts: int) -> timedelta | None:
    """Return the pause after so many failed attempts; None after the last one."""
    if attempts >= MAX_ATTEMPTS:
        return None
    return compressed(timedelta(seconds=PAUSES_S[attempts - 1] * uniform(1, 1 + MAX_JITTER)))  # noqa: S311 - no secret


def compressed(period: timedelta) -> timedelta:
    """Divide a period by WEBHOOK_PACE, which drills set above 1."""
    return period / settings.WEBHOOK_PACE
