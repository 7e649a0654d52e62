"""The audit log: who saw or changed what, by the admin, a command or the background work; entries are only added."""
