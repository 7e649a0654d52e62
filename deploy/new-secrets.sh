#!/usr/bin/env bash
# Prints an .env for compose.yaml with fresh secrets: deploy/new-secrets.sh SERVICE_HOST LABELS_HOST > deploy/.env
set -euo pipefail
umask 077
[ $# -eq 2 ] || { echo "usage: $0 SERVICE_HOST LABELS_HOST" >&2; exit 2; }
openssl version >/dev/null # in the text below its failure would end nothing
cat <<END
SERVICE_HOST=$1
LABELS_HOST=$2
SECRET_KEY=$(openssl rand -hex 32)
CREDENTIALS_KEYS=$(openssl rand -base64 32 | tr '+/' '-_')
POSTGRES_PASSWORD=$(openssl rand -hex 24)
DATABASE_OWNER_PASSWORD=$(openssl rand -hex 24)
DATABASE_PASSWORD=$(openssl rand -hex 24)
BACKUP_PASSWORD=$(openssl rand -hex 24)
STORE_ACCESS_KEY=GK$(openssl rand -hex 12)
STORE_SECRET_KEY=$(openssl rand -hex 32)
STORE_RPC_SECRET=$(openssl rand -hex 32)
END
