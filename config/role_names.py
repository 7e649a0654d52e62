"""The names of the staff's roles, for the settings too, which are read before there are models."""

SUPPORT, OPERATIONS, REPORTING, ACCOUNTING, ACCOUNTS = "Support", "Operations", "Reporting", "Accounting", "Accounts"
ROLE_NAMES = (SUPPORT, OPERATIONS, REPORTING, ACCOUNTING, ACCOUNTS)
