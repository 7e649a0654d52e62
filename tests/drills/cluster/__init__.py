"""The cluster drill: every part there twice or more, on one machine, each killed, restarted or silenced in turn."""
