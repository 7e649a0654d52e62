"""Who of the staff wants the queue by e-mail each morning, and when each had it last."""

from datetime import date

from django.contrib.auth.models import User
from django.db import models


class MorningMail(models.Model):
    """A member of staff who wants the morning's e-mail, in the language in which he chose so."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True, related_name="+")
    language = models.CharField(max_length=10)
    sent_on = models.DateField(help_text="The last day that is done with, in STAFF_TIME_ZONE.")

    class Meta:
        ordering = ["user_id"]
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.user_id)

    def claim(self, day: date) -> bool:
        """Note a day as done with; return true to one process only."""
        return bool(MorningMail.objects.filter(pk=self.pk, sent_on=self.sent_on).update(sent_on=day))

    def release(self) -> None:
        """Let the day be claimed again, as nothing was sent."""
        MorningMail.objects.filter(pk=self.pk).update(sent_on=self.sent_on)
