#!/usr/bin/env python
"""Django's command-line entry point."""

import gc
import os
import signal
import sys
from io import TextIOWrapper

from django.core.management import execute_from_command_line
from django.db import DatabaseError
from environs import EnvError


def main() -> None:
    gc.set_threshold(20_000)  # Python's 700 takes a tenth of the start, for objects that all stay
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    for position, argument in enumerate(sys.argv):
        if any("\ud800" <= char <= "\udfff" for char in argument):  # Python's stand-in for a byte it can't decode
            sys.exit(f"Not started: argument {position} is not valid UTF-8")
    if isinstance(sys.stdout, TextIOWrapper):  # JSON is UTF-8 on any terminal, and a file's name may be none
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    if sys.argv[1:2] != ["serve"]:  # whose processes share their metrics; the library reads it when it is imported
        os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)
    try:
        execute_from_command_line(sys.argv)
    except EnvError as error:
        sys.exit(f"Not started: {in_words(error)}")
    except DatabaseError as error:
        from shops.management.base import unusable  # noqa: PLC0415 - it needs the settings

        if not (fault := unusable(error)) or "--traceback" in sys.argv:
            raise
        sys.exit(f"CommandError: {fault}")
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted\n")
        sys.exit(128 + signal.SIGINT)


def in_words(error: EnvError) -> str:
    """Say what is wrong with a setting; environs shows a validator's texts as a list of Python's."""
    texts = getattr(error, "error_messages", None)
    if not isinstance(texts, list):
        return str(error)
    return f"{str(error).partition(' invalid: ')[0]} invalid: {' '.join(texts)}"


if __name__ == "__main__":
    main()
