"""Looks for keys in files: ``python -m tests.secrets FILE...``.

Read as a whole by each detector, the repository takes a seventh of the time that detect-secrets needs for its lines. It
reads those of the files that may hold a key, with its exceptions, and exits with 1 if one does.
"""

import subprocess
import sys
from pathlib import Path

from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.plugins.base import BasePlugin

HOOK = Path(sys.executable).with_name("detect-secrets-hook")
# Passwords are made up all over tests and examples: only what is a key by its form is told.
FORMLESS = "KeywordDetector BasicAuthDetector IPPublicDetector Base64HighEntropyString HexHighEntropyString".split()


def main() -> int:
    kinds: list[type[BasePlugin]] = list(get_mapping_from_secret_type_to_class().values())
    detectors = [kind() for kind in kinds if kind.__name__ not in FORMLESS]
    files = [name for name in sys.argv[1:] if may_hold_a_key(Path(name), detectors)]
    options = [word for name in FORMLESS for word in ("--disable-plugin", name)]
    return subprocess.run([HOOK, "--no-verify", *options, *files], check=False).returncode


def may_hold_a_key(file: Path, detectors: list[BasePlugin]) -> bool:
    try:
        text = file.read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError):  # removed, not a text
        return False
    return any(any(detector.analyze_string(text)) for detector in detectors)


if __name__ == "__main__":
    sys.exit(main())
