-- +goose Up
-- Which of the site's processes does what only one may do at a time, until when by the database's clock, in
-- milliseconds since 1970: sending the work of a device to workers, for example.
create table leases (
    name text primary key,
    holder text not null,
    until integer not null
);
-- Lets workers that nobody knows by name yet make their own credentials: for some devices, so many at once, until a
-- time.
create table join_tokens (
    id integer primary key autoincrement,
    name text not null,
    secret_hash text not null unique,
    devices text not null,
    most integer not null,
    created_by integer not null,
    created_at datetime not null,
    expires_at datetime not null,
    revoked_at datetime
);
-- 0: an admin made the credential. Else the token that its worker joined by.
alter table worker_credentials add column join_id integer not null default 0;
-- A guest is forgotten after it has left.
alter table workers add column guest boolean not null default false;
