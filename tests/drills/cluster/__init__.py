"""The cluster drill: every part at least twice on one machine, each killed, restarted or silenced in turn."""
