"""The roles of staff: groups with their permissions, made by a migration."""

from collections.abc import Mapping

from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission, User
from django.db.models import QuerySet, Value
from django.db.models.functions import Concat
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from config.role_names import ACCOUNTING, ACCOUNTS, OPERATIONS, REPORTING, SUPPORT

LISTS = ("shops.view_shop", "parcels.view_parcel", "labels.view_shippinglabel", "parcels.view_unlistedeventcode")
SHOPS_SIDE = (
    *("shops.view_accesstoken", "shops.view_carriercontract"),
    *("shops.view_webhookendpoint", "shops.view_webhookdelivery"),
)
ROLES: Mapping[str, tuple[str, ...]] = {
    # Answers shops and customers, and decides labels.
    SUPPORT: (
        *LISTS,
        *SHOPS_SIDE,
        *("shops.view_personal_data", "parcels.change_trackingnumber"),
        *("labels.change_shippinglabel", "labels.view_depositslip", "labels.add_depositslip"),
    ),
    # Decides labels; keeps shops, tokens, contracts and webhooks.
    OPERATIONS: (
        *LISTS,
        *SHOPS_SIDE,
        *("labels.change_shippinglabel", "labels.view_depositslip", "parcels.change_trackingnumber"),
        *("shops.add_shop", "shops.change_shop", "shops.add_accesstoken", "shops.change_accesstoken"),
        *("shops.add_carriercontract", "shops.change_carriercontract"),
        *("shops.add_webhookendpoint", "shops.change_webhookendpoint", "shops.change_webhookdelivery"),
    ),
    # Looks at figures and lists.
    REPORTING: (*LISTS, "labels.view_labelfigure"),
    # Pays the carriers and invoices the shops.
    ACCOUNTING: ("labels.view_labelfigure",),
    # Keeps staff's accounts, and reads the audit log.
    ACCOUNTS: ("auth.view_user", "auth.add_user", "auth.change_user", "auth.view_group", "shops.view_auditentry"),
}
# The roles that Accounts gives and takes; superusers give all.
GIVEN_BY_ACCOUNTS = (SUPPORT, OPERATIONS, REPORTING, ACCOUNTING)
# Superusers give it to single users.
FURTHER = ("auth.delete_user",)
APPS = ("auth", "shops", "parcels", "labels")
gettext_noop("Can see customers' personal data")  # a permission's name


def make_groups() -> None:
    """Make the roles' groups, each with its permissions and no others; permissions that are missing are made too."""
    for label in APPS:
        create_permissions(apps.get_app_config(label), verbosity=0)
    for name, permissions in ROLES.items():
        group, _ = Group.objects.get_or_create(name=name)
        group.permissions.set(named(*permissions))


def named(*permissions: str) -> QuerySet[Permission]:
    """Find permissions by names such as `shops.view_shop`."""
    name = Concat("content_type__app_label", Value("."), "codename")
    return Permission.objects.alias(full_name=name).filter(full_name__in=permissions)


def offered() -> QuerySet[Permission]:
    """Return the permissions that lead somewhere: those that a role has, and few others."""
    return named(*FURTHER, *(permission for permissions in ROLES.values() for permission in permissions))


def in_words(permission: Permission) -> str:
    """Name a permission in the reader's language: the database has its name in English."""
    words = {
        "add": pgettext("permission", "add"),
        "change": pgettext("permission", "change"),
        "delete": pgettext("permission", "delete"),
        "view": pgettext("permission", "view"),
    }
    word = words.get(permission.codename.removesuffix(f"_{permission.content_type.model}"))
    return f"{permission.content_type} | {word or _(permission.name)}"


def may_be_kept_by_accounts(user: User) -> bool:
    """Return whether a user may do only what the roles that Accounts gives allow: others' accounts superusers keep."""
    has_other_role = user.groups.exclude(name__in=GIVEN_BY_ACCOUNTS).exists()
    return not (user.is_superuser or has_other_role or user.user_permissions.exists())
