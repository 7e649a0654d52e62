"""Where labels' PDFs are kept, signed, recovered and printed."""
