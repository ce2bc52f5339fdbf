-- +goose Up
create table blobs (
    hash text primary key,
    size integer not null,
    data blob not null,
    created_at datetime not null
);

create table tasks (
    id integer primary key autoincrement,
    slug text not null unique,
    title text not null,
    owner_id integer not null references users (id),
    devices text,
    deadline datetime,
    visibility text not null,
    origin text not null default '',
    version_id integer not null default 0,
    created_at datetime not null,
    updated_at datetime not null
);

create table task_versions (
    id integer primary key autoincrement,
    task_id integer not null references tasks (id) on delete cascade,
    number integer not null,
    key text not null,
    lang text not null,
    definition text not null,
    warnings text,
    created_by integer not null,
    created_at datetime not null,
    unique (task_id, number)
);

create table version_files (
    version_id integer not null references task_versions (id) on delete cascade,
    path text not null,
    hash text not null references blobs (hash),
    primary key (version_id, path)
);
create index version_files_hash on version_files (hash);
