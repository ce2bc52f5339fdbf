-- +goose Up
create table workers (
    name text primary key,
    version text not null default '',
    started_at datetime not null,
    seen_at datetime not null,
    slots text,
    attempts text,
    self_test text,
    refusing text not null default '',
    stopping boolean not null default false
);

create table worker_credentials (
    id integer primary key autoincrement,
    name text not null unique,
    secret_hash text not null,
    devices text,
    created_by integer not null,
    created_at datetime not null,
    used_at datetime,
    revoked_at datetime
);
