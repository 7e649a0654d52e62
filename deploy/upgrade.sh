#!/usr/bin/env bash
# Upgrades the service to this checkout's commit while it serves, or goes back to the release before that:
#
#   deploy/upgrade.sh         # again, after it has failed: it begins anew
#   deploy/upgrade.sh back
#
# With deploy/.env the containers of compose.yaml; otherwise, as root, the units of deploy/systemd, of which it is the
# installation too. The database is migrated first: the old release works on the new tables (docs/releasing.md). Then
# the new one is started as a spare, to which the proxy turns while the old one answers what it has and is replaced.
#
# COMPOSE and ENGINE name others than "docker compose" and "docker"; PYTHON and REQUIREMENTS others than python3 and
# requirements.txt, for a new .venv.
set -euo pipefail
cd "$(dirname "$0")/.."
PROGRAM=${PROGRAM:-/srv/parcel-service}
UNITS=${UNITS:-/etc/systemd/system}
SETTINGS=${SETTINGS:-/etc/parcel-service.env}
VERSION=$(git describe --tags --always)

# --- Containers ---

compose() {
    # shellcheck disable=SC2086 # the command's words
    IMAGE=$next ${COMPOSE:-docker compose} --file deploy/compose.yaml "$@"
}

upgrade_containers() {
    now=$(value_in deploy/.env IMAGE parcel-service:latest)
    if [ "$1" = back ]; then
        next=$(value_in deploy/.env PREVIOUS_IMAGE "")
        [ -n "$next" ] || fail "there is no release before"
    else
        next=parcel-service:$VERSION
        ${ENGINE:-docker} build --file deploy/Containerfile --tag "$next" .
        compose run --rm --no-deps --no-TTY migrate
    fi
    trap 'compose rm --stop --force spare; echo "nothing was replaced: $now goes on" >&2' EXIT
    compose up --detach --wait --no-deps spare
    trap - EXIT
    [ "$now" = "$next" ] || keep_images "$next" "$now"
    compose up --detach --wait --no-deps service work
    compose rm --stop --force spare
}

keep_images() (
    umask 077
    sed '/^\(PREVIOUS_\)\?IMAGE=/d' deploy/.env >deploy/.env.new
    printf 'IMAGE=%s\nPREVIOUS_IMAGE=%s\n' "$1" "$2" >>deploy/.env.new
    mv deploy/.env.new deploy/.env
)

# --- Units ---

upgrade_units() {
    # A program without releases, as 0.1.0 was installed, is the first one.
    [ -e "$PROGRAM/current" ] || [ ! -e "$PROGRAM/manage.py" ] || link current .
    now=$(readlink "$PROGRAM/current" || true)
    trap undo EXIT
    if [ "$1" = back ]; then
        next=$(readlink "$PROGRAM/previous") || fail "there is no release before"
        link current "$next"
    else
        next=releases/$VERSION
        [ -e "$PROGRAM/$next/complete" ] || install_release "$PROGRAM/$next"
        link current "$next"
        cp -r "$PROGRAM/$next"/deploy/systemd/parcel-* "$UNITS/"
        systemctl daemon-reload
        systemctl start parcel-migrate
    fi
    systemctl restart parcel-spare
    wait_for 127.0.0.2
    trap - EXIT
    [ -z "$now" ] || [ "$now" = "$next" ] || link previous "$now"
    systemctl restart parcel-serve
    wait_for "$(value_in "$SETTINGS" SERVE_HOST 127.0.0.1)"
    systemctl restart parcel-work
    systemctl stop parcel-spare
    remove_releases
}

link() {
    ln -sfn "$2" "$PROGRAM/$1.new"
    mv -T "$PROGRAM/$1.new" "$PROGRAM/$1"
}

undo() {
    [ -z "$now" ] || link current "$now"
    systemctl stop parcel-spare || true
    echo "nothing was replaced: ${now:-no release} goes on" >&2
}

# Put the commit's files and a .venv into a folder that everybody may read, compiled.
install_release() {
    rm -rf "$1"
    mkdir -p "$1"
    git archive HEAD | tar --extract --directory "$1"
    "${PYTHON:-python3}" -m venv "$1/.venv"
    "$1/.venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
        --requirement "$1/${REQUIREMENTS:-requirements.txt}"
    "$1/.venv/bin/python" -m compileall -q "$1"
    chmod -R go+rX "$1"
    touch "$1/complete"
}

# Wait until a server of the new release takes requests.
wait_for() {
    local url
    url=http://$1:$(value_in "$SETTINGS" SERVE_PORT 8000)/readyz
    "$PROGRAM/current/.venv/bin/python" - "$url" <<'PYTHON' || fail "$url is not ready"
import sys, time, urllib.request
until = time.monotonic() + 60
while True:
    try:
        urllib.request.urlopen(sys.argv[1], timeout=5)
        break
    except OSError as error:
        if time.monotonic() > until:
            sys.exit(str(error))
        time.sleep(0.2)
PYTHON
}

remove_releases() {
    local folder
    for folder in "$PROGRAM"/releases/*; do
        case releases/${folder##*/} in
            "$(readlink "$PROGRAM/current")" | "$(readlink "$PROGRAM/previous")") ;;
            *) rm -r "$folder" ;;
        esac
    done
}

# --- Both ---

value_in() {
    local found
    found=$(sed -n "s/^$2=[\"']\?\([^\"']*\).*/\1/p" "$1" | tail -1)
    echo "${found:-$3}"
}

fail() {
    echo "$1" >&2
    exit 1
}

case "$#/${1:-}" in
    0/ | 1/back) ;;
    *) sed -n '4,5s/^# *//p' "$0" >&2 && exit 2 ;;
esac
if [ -e deploy/.env ]; then upgrade_containers "${1:-}"; else upgrade_units "${1:-}"; fi
