#!/bin/bash
# Starts PostgreSQL with the variables and the folder of scripts of the official image.
set -euo pipefail
if [ "${1:0:1}" = - ]; then set -- postgres "$@"; fi
if [ "$1" != postgres ]; then exec "$@"; fi
# The kubelet opens the folders of a volume to its group.
if [ -d "$PGDATA" ]; then chmod 0700 "$PGDATA"; fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  password=${POSTGRES_PASSWORD_FILE:+$(cat "$POSTGRES_PASSWORD_FILE")}
  export POSTGRES_USER=${POSTGRES_USER:-postgres}
  # shellcheck disable=SC2086
  initdb --username "$POSTGRES_USER" --pwfile <(echo "${password:-$POSTGRES_PASSWORD}") \
    --auth-host scram-sha-256 --auth-local trust ${POSTGRES_INITDB_ARGS:-} > /dev/null
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl --silent --wait --options "-c listen_addresses=''" start
  for script in /docker-entrypoint-initdb.d/*.sh; do
    # shellcheck disable=SC1090
    if [ -e "$script" ]; then . "$script"; fi
  done
  pg_ctl --silent --wait --mode fast stop
fi
exec "$@" -c listen_addresses='*'
