# shellcheck shell=bash
# Lets the role of the backup copy the database; run by the image of PostgreSQL when it makes the database.
echo 'host replication parcels_backup samenet scram-sha-256' >>"$PGDATA/pg_hba.conf"
