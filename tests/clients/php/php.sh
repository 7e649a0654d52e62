#!/bin/sh
# PHP as `make .venv/bin/php` unpacks it, with what a generated client needs and nothing of the machine's own settings.
folder=$(dirname "$(readlink -f "$0")")/../php
LD_LIBRARY_PATH=$(echo "$folder"/usr/lib/*-linux-gnu) exec "$folder"/usr/bin/php[0-9]* -n -d include_path="$folder/usr/share/php" \
	-d extension_dir="$(echo "$folder"/usr/lib/php/20*)" -d extension=mbstring "$@"
