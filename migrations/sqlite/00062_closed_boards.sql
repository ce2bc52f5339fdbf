-- +goose Up
-- Tasks that only those see who joined them, and the codes by which people join.
create table invites (
    id integer primary key autoincrement,
    task_id integer not null references tasks (id) on delete cascade,
    note text not null default '',
    prefix text not null,
    secret_hash text not null unique,
    most integer not null default 0, -- people that it lets in; 0: no limit
    used integer not null default 0,
    created_by integer not null,
    created_at datetime not null,
    expires_at datetime,
    revoked_at datetime
);
create index invites_task on invites (task_id);

-- Who is removed keeps the row: an older code does not let them in again.
create table members (
    task_id integer not null references tasks (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    invite_id integer not null references invites (id) on delete cascade,
    joined_at datetime not null,
    removed_at datetime,
    primary key (task_id, user_id)
);
create index members_user on members (user_id);
create index members_invite on members (invite_id);
