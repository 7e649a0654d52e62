#!/usr/bin/env bash
# Starts everything of compose.yaml on this host, with a first shop: deploy/start.sh SERVICE_HOST LABELS_HOST SHOP_NAME
#
# Run again, it keeps the secrets and the release, and replaces what has changed; without SHOP_NAME it makes no further
# shop. deploy/upgrade.sh brings another release. COMPOSE and ENGINE name others than "docker compose" and "docker".
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 2 ] || [ $# -eq 3 ] || { echo "usage: $0 SERVICE_HOST LABELS_HOST [SHOP_NAME]" >&2; exit 2; }

compose() {
    # shellcheck disable=SC2086 # the command's words
    ${COMPOSE:-docker compose} --file deploy/compose.yaml "$@"
}

if [ ! -e deploy/.env ]; then
    (umask 077 && deploy/new-secrets.sh "$1" "$2" >deploy/.env.new)
    mv deploy/.env.new deploy/.env
fi
for name in "SERVICE_HOST=$1" "LABELS_HOST=$2"; do
    tr -d "\"'" <deploy/.env | grep -qxF "$name" ||
        { echo "deploy/.env has another SERVICE_HOST or LABELS_HOST: change it there, and run this again" >&2; exit 2; }
done
grep -q ^IMAGE= deploy/.env || ${ENGINE:-docker} build --file deploy/Containerfile --tag parcel-service:latest .
compose up --detach --wait
[ $# -eq 3 ] || exit 0
shop=$(compose run --rm --no-TTY service create_shop "$3")
token=$(compose run --rm --no-TTY service create_token "$shop" --name first)
cat <<END
The shop is $shop. Its token, which is not shown again, and a first request (404 until parcels are imported):

    curl -i -H "Authorization: Bearer $token" https://$1/public/v1/tracking/parcels/XU000000001FR

Next: its address, contracts and parcels, and the staff's first account (docs/runbook/install.md, step 7). Keep deploy/.env.
END
