#!/usr/bin/env python
"""Django's command-line entry point."""

import os
import sys

from django.core.management import execute_from_command_line
from environs import EnvError


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        execute_from_command_line(sys.argv)
    except EnvError as error:
        sys.exit(f"Not started: {error}")


if __name__ == "__main__":
    main()
