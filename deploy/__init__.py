"""Programs that make what operators run: the bill of materials, the monitoring's files."""
