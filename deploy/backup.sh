#!/usr/bin/env bash
# Backs a PostgreSQL server up into a folder, and restores it from there, to the end or to a moment.
#
#   deploy/backup.sh run FOLDER [HOURS]             # until SIGTERM: the WAL as it is written, a copy every 24 hours
#   deploy/backup.sh now FOLDER                     # a copy, beside `run`; older ones than KEEP_DAYS (14) go
#   deploy/backup.sh restore FOLDER DATA [MOMENT]   # DATA is ready to be started: '2026-11-22 14:30:00+00', else the end
#
# libpq's variables (PGHOST, PGUSER, PGPASSWORD) or PGSERVICE name the server; the role needs REPLICATION. The programs
# are PostgreSQL's own, of the server's version.
set -euo pipefail
umask 077
SLOT=backup

check_number() {
    [[ $2 =~ ^[1-9][0-9]*$ ]] || { echo "$1 is '$2': needs a whole number, 1 or more" >&2; exit 2; }
}

run() {
    local folder=$1 hours=${2:-24}
    check_number HOURS "$hours"
    # Without a slot there was no backup of this server, or it is a restored one: what is there does not lead up to it.
    if pg_receivewal --slot="$SLOT" --create-slot 2>/dev/null; then set_aside "$folder"; fi
    mkdir -p "$folder/wal" "$folder/copies"
    pg_receivewal --slot="$SLOT" --directory="$folder/wal" --status-interval=5 &
    local receiver=$!
    trap 'kill $(jobs -p) || true; wait' EXIT # the sleep too
    trap 'exit 0' TERM INT
    while kill -0 $receiver; do
        [ -n "$(find "$folder/copies" -name complete -mmin "-$((hours * 60))")" ] || now "$folder"
        sleep 10 &
        wait $! || true # a signal ends the wait, not the sleep
    done
    exit 1
}

set_aside() {
    local earlier
    [ -e "$1/wal" ] || return 0
    earlier=$1/before-$(timestamp)
    mkdir "$earlier"
    mv "$1/wal" "$1/copies" "$earlier/"
}

now() {
    local folder=$1 copy
    copy=$folder/copies/$(timestamp)
    mkdir -p "$folder/wal" "$folder/copies"
    mkdir "$copy"
    touch "$copy/begun"
    pg_basebackup --pgdata="$copy/data" --format=tar --gzip --compress=1 --wal-method=stream --checkpoint=fast
    touch "$copy/complete"
    prune "$folder" "${KEEP_DAYS:-14}"
    echo "copied to $copy"
}

# With microseconds: two copies within a second are two folders, and their names sort by time.
timestamp() {
    date --utc +%Y%m%dT%H%M%S.%6NZ
}

# Remove copies that are too old, but never the newest, the WAL from before the oldest that is kept, and what was set aside.
prune() {
    local folder=$1 newest oldest
    find "$folder" -mindepth 1 -maxdepth 1 -name 'before-*' -mmin "+$(($2 * 1440))" -exec rm -r {} +
    newest=$(completed "$folder" | tail -1)
    find "$folder/copies" -mindepth 1 -maxdepth 1 -type d ! -path "$newest" -mmin "+$(($2 * 1440))" -exec rm -r {} +
    oldest=$(completed "$folder" | head -1)
    find "$folder/wal" -type f ! -name '*.history' ! -name '*.partial' ! -newer "$oldest/begun" -delete
}

completed() {
    find "$1/copies" -name complete -printf '%h\n' | sort
}

restore() {
    local folder data=$2 moment=${3:-} copy
    folder=$(realpath "$1")
    [ ! -e "$data" ] || [ -z "$(ls -A "$data")" ] || { echo "$data is not empty" >&2; exit 1; }
    copy=$(last_before "$folder" "$moment")
    mkdir -p "$data"
    chmod 0700 "$data"
    tar --extract --gzip --file="$copy/data/base.tar.gz" --directory="$data"
    tar --extract --gzip --file="$copy/data/pg_wal.tar.gz" --directory="$data/pg_wal"
    # The last segment is not whole yet, and is called .partial.
    cat >>"$data/postgresql.auto.conf" <<END
restore_command = 'cp "$folder/wal/%f" "%p" 2>/dev/null || cp "$folder/wal/%f.partial" "%p"'
recovery_target_action = 'promote'
END
    # As `date` reads it, which has chosen the copy: PostgreSQL reads less, and would not start.
    [ -z "$moment" ] || date --date="$moment" "+recovery_target_time = '%F %T.%6N%:z'" >>"$data/postgresql.auto.conf"
    touch "$data/recovery.signal"
    echo "restored from $copy; start PostgreSQL on $data"
}

# Print the newest copy that was complete at the moment.
last_before() {
    local limit=now limit_ns completed_ns copy found=
    [ -z "$2" ] || limit=$2
    limit_ns=$(date --date="$limit" +%s%N) || exit 1
    while read -r copy; do
        completed_ns=$(stat --format=%.9Y "$copy/complete")
        [ "${completed_ns/[.,]/}" -gt "$limit_ns" ] || found=$copy
    done < <(completed "$1")
    [ -n "$found" ] || { echo "there is no copy from before $limit" >&2; exit 1; }
    echo "$found"
}

check_number KEEP_DAYS "${KEEP_DAYS:-14}"
case "${1:-}/$#" in
    run/[23] | now/2 | restore/[34]) "$@" ;;
    *) sed -n '4,6s/^# *//p' "$0" >&2 && exit 2 ;;
esac
