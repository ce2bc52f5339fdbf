#!/bin/sh
# PostgreSQL's image runs it once, when it makes its data: the site gets a database of its own, and a role that owns no other.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$WARPBOARD_DATABASE_PASSWORD" --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
create role warpboard login password :'password';
create database warpboard owner warpboard;
revoke connect on database postgres from public;
SQL
