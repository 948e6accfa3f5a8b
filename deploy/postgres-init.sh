#!/bin/sh
# Runs once, when the volume of the database is empty. The owner of Accord's database is not a superuser, and the superuser can connect
# only from inside the container.
set -eu
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set password="$(cat /secrets/database-owner)" <<'SQL'
CREATE ROLE accord LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE accord OWNER accord;
ALTER ROLE CURRENT_USER PASSWORD NULL;
SQL
