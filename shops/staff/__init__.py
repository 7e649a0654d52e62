"""The parts of every page of the staff: lists, sheets, search, masking, the audit log."""
