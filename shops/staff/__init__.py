"""What every page of the staff has: lists, sheets, search, masking, the audit log."""
