"""Imports a shop's parcels from NDJSON."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError, CommandParser
from django.db import OperationalError, transaction
from tqdm import tqdm

from parcels.importing.numbers import try_to_lock_imports
from parcels.importing.reading import Line, NothingImportedError, ParcelImport, read_lines
from shops.db.failures import is_deadlock
from shops.management import base
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record


class Command(base.Command):
    """Import parcels, one JSON object a line; insert or update by id; print how many."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("shop_id", metavar="SHOP_ID")
        parser.add_argument("file", metavar="FILE", help="NDJSON; - is standard input")
        mode = parser.add_mutually_exclusive_group()
        mode.add_argument("--strict", action="store_true", help="change nothing if a line is bad (default)")
        mode.add_argument("--skip-invalid", action="store_true", help="leave bad lines out, import the rest")
        parser.add_argument("--silent", action="store_true", help="emit no event of the parcels' statuses")

    def handle(self, *args: Any, **options: Any) -> None:
        shop = base.find_shop(options["shop_id"])
        how = {"is_strict": not options["skip_invalid"], "is_silent": options["silent"]}
        run = ParcelImport(shop_id=shop.id, report=self.report, **how)
        try:
            with base.open_file(options["file"]) as file, transaction.atomic():
                if not try_to_lock_imports(shop.id):
                    self.stderr.write("another import or an erasure of this shop runs: this one waits for it")
                count = run.run(with_progress(file, options["file"]))
                record(Action.CHANGED, shop, note=f"{count} parcels imported.")
                self.print(str(count))
        except NothingImportedError:
            raise CommandError(f"{run.bad} bad line{'s' * (run.bad != 1)}: nothing was imported") from None
        except OperationalError as error:  # imports of two shops with the same new ids may meet
            if not is_deadlock(error):
                raise
            raise CommandError(
                "another process writes some of these parcels: nothing was imported, import again"
            ) from None
        if run.bad:
            self.stderr.write(f"{run.bad} bad line{'s' * (run.bad != 1)} left out")

    def report(self, number: int, reason: str) -> None:
        with tqdm.external_write_mode(file=sys.stderr):
            self.stderr.write(f"line {number}: {reason}")


def with_progress(file: IO[bytes], name: str) -> Iterator[Line]:
    """Yield the lines, and show a progress bar in bytes, with parcels a second, on a terminal; raise CommandError."""
    size = Path(name).stat().st_size if name != "-" else None
    width, height = shutil.get_terminal_size()  # never 0, with which tqdm draws nothing on a terminal of unknown size
    bar = tqdm(total=size, unit="B", unit_scale=True, disable=None, file=sys.stderr, ncols=width, nrows=height)
    with bar, base.file_errors(name):
        for line in read_lines(file):
            if line[0] % 100 == 0 and (elapsed_s := bar.format_dict["elapsed"]):
                bar.set_postfix_str(f"{line[0] / elapsed_s:,.0f} parcels/s", refresh=False)
            bar.update(len(line[1]))
            yield line
