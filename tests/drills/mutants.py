"""The mutants: ``python -m tests.drills.mutants [NAME ...]``: deliberate faults, each of which an act must catch.

Each is a small change of the purchase path, of the table of a label's states or of a queue, in a copy of the tree. Its
act, model or test, which passes on the tree itself, is played against the copy and has to find a broken promise.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.drills.edges.acts import is_possible
from tests.drills.harness import finish, read_options
from tests.drills.printing import print_table
from tests.support.processes import ROOT

LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", "node_modules", "__pycache__", ".*_cache")
FAULT = re.compile(r"^(?:  FAULT|E +(?:\| )*(?:AssertionError:|assert)) (.*)", re.MULTILINE)
BUDGET = "--as-found --seed 1 --minutes 0 --stories 100 --steps 12"
PLAYED = {name: ["-m", "tests.models", name, *BUDGET.split(), "--database"] for name in ("label", "parcel")}
PLAYED |= {
    name: ["-m", "pytest", "-q", f"tests/labels/test_{name}.py", "--services"]
    for name in ("cancelling", "doubtful_commits")
}


@dataclass(frozen=True)
class Mutant:
    """A text of a file, and what replaces it; the act, model or test that has to notice."""

    name: str
    path: str
    old: str
    new: str
    act: str
    database: str = "sqlite"

    def apply(self, tree: Path) -> None:
        """Change the copy; raise ValueError where the text is not there exactly once."""
        file = tree / self.path
        text = file.read_text()
        if text.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.path} has its text {text.count(self.old)} times: bring it up to date")
        file.write_text(text.replace(self.old, self.new))


MUTANTS = [
    Mutant(
        "a vanished row is not noticed",
        "labels/lifecycle/states.py",
        "if ShippingLabel.objects.row_of(label).exists():",
        "if True:",
        "row-lost-before-keeping",
    ),
    Mutant(
        "leases go by hosts' clocks",
        "labels/lifecycle/purchase.py",
        "is_late = clock.upper_bound_now() + time_needed",
        "is_late = clock.timezone.now() + time_needed",
        "frozen-behind",
        "postgresql",
    ),
    Mutant(
        "a SOAP fault means that nothing was made",
        "carriers/alpha/answers.py",
        "raise request.unanswered_error(CARRIER, carrier_code=shown, carrier_text=said)",
        "raise CancellationRefused(CARRIER, carrier_code=shown, carrier_text=said)",
        "gateway-alpha",
    ),
    Mutant(
        "an undocumented code means that nothing was made",
        "carriers/beta/answers.py",
        "return error(CARRIER, problem,",
        "return CredentialsRejected(CARRIER, problem,",
        "gateway-beta",
    ),
    Mutant(
        "the deadline begins after the lease check",
        "labels/lifecycle/purchase.py",
        "talk.credentials, deadline_within_lease(label, talk.carrier))",
        "talk.credentials)",
        "frozen",
    ),
    Mutant(
        "a doubtful row is deleted before it is there",
        "labels/lifecycle/purchase.py",
        "    with suppress(IntegrityError), transaction.atomic():\n        label.save(force_insert=True)\n",
        "",
        "doubtful_commits",
        "postgresql",
    ),
    Mutant(
        "what can't be recorded is dropped",
        "labels/lifecycle/outcomes.py",
        "recovery.save(label, purchased)",
        "pass",
        "database-away",
        "postgresql",
    ),
    Mutant(
        "an interrupted purchase frees its key",
        "labels/lifecycle/purchase.py",
        'outcomes.set_error(label, OutcomeUnknown(label.carrier_code, "the purchase was interrupted"))',
        'outcomes.fail_during_request(label, CarrierUnavailable(label.carrier_code, "it was interrupted"))',
        "writer-late",
    ),
    Mutant(
        "not found is believed at once",
        "labels/lifecycle/reconciling.py",
        "is_early = clock.now() < label.created_at + wait",
        "is_early = False",
        "writer-late",
    ),
    Mutant(
        "not found is believed without a control",
        "labels/lifecycle/reconciling.py",
        "is_believed=is_caught_up",
        "is_believed=bool(control_id)",
        "search-late",
    ),
    Mutant(
        "not found is believed before its hour is over",
        "labels/lifecycle/reconciling.py",
        "is_early = clock.now() < label.created_at + wait",
        "is_early = clock.now() < label.created_at",
        "label",
    ),
    Mutant(
        "a control is bought while the purchase may run",
        "labels/lifecycle/reconciling.py",
        "purchase_ended_at = label.created_at + timedelta(seconds=settings.CARRIER_TIMEOUT)",
        "purchase_ended_at = label.created_at",
        "label",
    ),
    Mutant(
        "a control is bought before the order",
        "labels/lifecycle/reconciling.py",
        "bought.filter(id__gt=label.id, created_at__gt=purchase_ended_at)",
        "bought",
        "label",
    ),
    Mutant(
        "a control is another carrier's",
        "labels/lifecycle/reconciling.py",
        "of_shop.filter(carrier_code=label.carrier_code, account_number__in=accounts)",
        "of_shop.filter(account_number__in=accounts)",
        "label",
    ),
    Mutant(
        "a reservation is printed with too few numbers",
        "labels/lifecycle/reconciling.py",
        " and outcomes.are_as_ordered(label, label.tracking_numbers)",
        "",
        "label",
    ),
    Mutant(
        "a restored order of beta is settled",
        "labels/lifecycle/reconciling.py",
        "    elif storage.read(label.pdf_key):\n        back_off(label)\n",
        "",
        "label",
    ),
    Mutant(
        "a restored order of alpha is cancelled",
        "labels/lifecycle/reconciling.py",
        "elif numbers and (content := label.pdf or storage.read(label.pdf_key)):",
        "elif numbers and (content := label.pdf):",
        "label",
    ),
    Mutant(
        "a log line waits for its reader",
        "config/framework.py",
        '"class": "config.ops.log_writer.Handler"',
        '"class": "logging.StreamHandler"',
        "log-unread",
    ),
    Mutant(
        "a failure outranks a label",
        "labels/lifecycle/states.py",
        "own = own.filter(state__in=step.sources)",
        "pass",
        "label",
    ),
    Mutant(
        "a cancelled label keeps its numbers",
        "labels/lifecycle/transitions.csv",
        "\ncancelled,IN_CANCELLATION,cancelled,,,,RELEASED,",
        "\ncancelled,IN_CANCELLATION,cancelled,,,,,",
        "parcel",
    ),
    Mutant(
        "a label that stays bought stays hidden",
        "labels/lifecycle/transitions.csv",
        "cancel_refused,cancelling,label_generated,,,,BROUGHT_BACK,",
        "cancel_refused,cancelling,label_generated,,,,,",
        "label",
    ),
    Mutant(
        "a parcel that is handed in stops the cancellation of others",
        "labels/lifecycle/cancelling.py",
        "if handed_in and is_certain and not label.is_cancelled_in_part:",
        "if handed_in and is_certain:",
        "label",
    ),
    Mutant(
        "a parcel that is handed in speaks for the others",
        "labels/lifecycle/cancelling.py",
        " or handed_in == set(label.tracking_numbers)",
        " or True",
        "cancelling",
    ),
    Mutant(
        "a number that is known and not found is forgotten",
        "labels/lifecycle/reconciling.py",
        "if len(found) == count and known.keys() <= set(found):",
        "if len(found) == count:",
        "label",
    ),
    Mutant(
        "a settled purchase keeps its key",
        "labels/lifecycle/transitions.csv",
        "\nsettled,OPEN,failed,yes,",
        "\nsettled,OPEN,failed,,",
        "label",
    ),
    Mutant(
        "a number that an imported parcel has makes a second one",
        "labels/lifecycle/parcels.py",
        "if taken() and (shares := parcels_with_numbers(label)):",
        "if taken() and (shares := {}):",
        "parcel",
    ),
    Mutant(
        "one parcel takes all numbers of a label",
        "labels/lifecycle/parcels.py",
        "shares[owners[number] if owners.get(number) in ids else newest]",
        "shares[newest]",
        "parcel",
    ),
    Mutant(
        "the next event of a parcel is not made due",
        "shops/webhooks/delivering.py",
        "        release_next(own, now)\n",
        "",
        "parcel",
    ),
    Mutant(
        "what a killed process had leased is due no more",
        "shops/db/due.py",
        "(Q(leased_until=None) | Q(leased_until__lte=now))",
        "Q(leased_until=None)",
        "parcel",
    ),
]


def play_all(names: list[str]) -> list[str]:
    """Play the mutants; return those that survive."""
    rows, survivors = [], []
    for mutant in (each for each in MUTANTS if is_chosen(each, names)):
        started_s = time.monotonic()
        fault = caught(mutant)
        survivors += [] if fault else [f"{mutant.name}: {mutant.act} did not notice"]
        rows.append([mutant.name, mutant.act, mutant.database, f"{time.monotonic() - started_s:.0f} s", fault])
        print(f"{mutant.name}: {fault or 'NOT CAUGHT'}", flush=True)
    print_table(["mutant", "act", "database", "time", "first fault"], rows)
    return survivors


def is_chosen(mutant: Mutant, names: list[str]) -> bool:
    is_named = not names or mutant.name in names
    return is_named and (mutant.act in PLAYED or is_possible(mutant.act, mutant.database))


def caught(mutant: Mutant) -> str:
    """Play a mutant's act; return the first fault that it found, empty if none."""
    with copied_tree() as tree:
        mutant.apply(tree)
        played = PLAYED.get(mutant.act) or ["-m", "tests.drills.edges", mutant.act, "--database"]
        command = [sys.executable, *played, mutant.database]
        run = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    fault = FAULT.search(run.stdout)
    if run.returncode and not fault:
        raise RuntimeError(f"{mutant.name}: the act broke off\n{run.stdout}{run.stderr[-3000:]}")
    return fault[1] if fault else ""


@contextmanager
def copied_tree() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=LEFT_OUT)
        yield tree


if __name__ == "__main__":
    finish(play_all(read_options(chosen=[mutant.name for mutant in MUTANTS]).chosen))
