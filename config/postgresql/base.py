"""Django's PostgreSQL backend with a health check that costs a system call instead of a round trip."""

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """Asks the server ``SELECT 1`` only when something lies unread on the connection.

    A server that ended the connection (a restart, a failover) has sent its farewell or at least the end of the
    stream, so an idle socket with nothing to read is alive as far as this side can know.
    """

    def is_usable(self) -> bool:
        if self.connection is None or self.connection.closed:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0) or super().is_usable()
