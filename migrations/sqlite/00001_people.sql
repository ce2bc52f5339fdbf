-- +goose Up
create table users (
    id integer primary key autoincrement,
    name text not null,
    name_key text not null unique,
    email text not null default '',
    avatar_url text not null default '',
    role text not null,
    blocked_at datetime,
    created_at datetime not null,
    updated_at datetime not null
);

create table identities (
    id integer primary key autoincrement,
    user_id integer not null references users (id) on delete cascade,
    provider text not null,
    subject text not null,
    email text not null default '',
    name text not null default '',
    created_at datetime not null,
    used_at datetime not null,
    unique (provider, subject)
);
create index identities_user on identities (user_id);

create table sessions (
    id integer primary key autoincrement,
    user_id integer not null references users (id) on delete cascade,
    secret_hash text not null unique,
    provider text not null default '',
    user_agent text not null default '',
    address text not null default '',
    created_at datetime not null,
    seen_at datetime not null,
    expires_at datetime not null
);
create index sessions_user on sessions (user_id);

create table tokens (
    id integer primary key autoincrement,
    user_id integer not null references users (id) on delete cascade,
    name text not null,
    prefix text not null,
    secret_hash text not null unique,
    created_at datetime not null,
    used_at datetime,
    expires_at datetime,
    revoked_at datetime
);
create index tokens_user on tokens (user_id);

create table audits (
    id integer primary key autoincrement,
    actor_id integer not null,
    actor_name text not null,
    act text not null,
    subject text not null,
    detail text not null default '',
    created_at datetime not null
);

create table settings (
    key text primary key,
    value text not null
);
