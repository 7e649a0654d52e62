#!/usr/bin/env python
"""Django's command-line entry point."""

import os
import sys

from django.core.management import execute_from_command_line
from environs import EnvError


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    for position, argument in enumerate(sys.argv):
        if any("\ud800" <= char <= "\udfff" for char in argument):  # how Python keeps what it can't decode
            sys.exit(f"Not started: argument {position} is not valid UTF-8")
    try:
        execute_from_command_line(sys.argv)
    except EnvError as error:
        sys.exit(f"Not started: {error}")


if __name__ == "__main__":
    main()
