#!/usr/bin/env bash
# Restores the database of compose.yaml, and puts back what was bought after the moment: deploy/restore.sh [MOMENT]
#
# Such as '2026-11-22 14:30:00+00'; without one, to the end of what was backed up. The service is stopped once the copy is
# unpacked, and starts when all is through; if it fails, docs/runbook/fail.md says what to do. The database as it was, if
# there is one, is kept beside.
set -euo pipefail
cd "$(dirname "$0")/.."
DATA=/var/lib/postgresql/data

compose() {
    # shellcheck disable=SC2086 # the command's words
    ${COMPOSE:-docker compose} --file deploy/compose.yaml "$@"
}

compose run --rm --no-deps --entrypoint rm postgres -rf $DATA/restored # of a run that failed
compose run --rm --no-deps restore restore /backups $DATA/restored "$@"
compose stop service work backup postgres
replaced=replaced-$(date --utc +%Y%m%dT%H%M%SZ)
compose run --rm --no-deps --entrypoint sh postgres -ec \
    "cd $DATA; [ ! -e pgdata ] || mv pgdata $replaced; mv restored pgdata"
compose up --detach --wait postgres store redis
compose run --rm migrate
compose run --rm service recover
compose run --rm service check_labels || echo "Go through these: docs/runbook/fail.md#restore-to-a-point-in-time"
compose up --detach
