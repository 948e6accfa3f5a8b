#!/bin/sh
# Runs once, when the database's volume is empty: the owner of Accord's database is no superuser, and the superuser signs in from inside
# the container alone.
set -eu
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set password="$(cat /secrets/database-owner)" <<'SQL'
CREATE ROLE accord LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE accord OWNER accord;
ALTER ROLE CURRENT_USER PASSWORD NULL;
SQL
