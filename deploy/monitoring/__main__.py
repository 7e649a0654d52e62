"""Writes the generated files: ``python -m deploy.monitoring``."""

from deploy.monitoring.files import ROOT, generated

for path, text in generated().items():
    file = ROOT / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
