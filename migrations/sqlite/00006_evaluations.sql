-- +goose Up
create table evaluations (
    id text primary key,
    user_id integer not null default 0,
    caller text not null,
    kind text not null,
    device text not null,
    request text not null,
    source_hash text not null,
    state text not null,
    change integer not null default 1,
    attempt_id text not null default '',
    secret text not null default '',
    last_seq integer not null default 0,
    losses integer not null default 0,
    worker text not null default '',
    created_at datetime not null,
    dispatched_at datetime,
    published_at datetime,
    taken_at datetime,
    ended_at datetime,
    failure text not null default '',
    result text
);
create index evaluations_live on evaluations (device, caller, created_at)
    where state not in ('completed', 'failed', 'timeout', 'cancelled');
create index evaluations_user on evaluations (user_id, created_at);
create index evaluations_ended on evaluations (ended_at);
create index evaluations_attempt on evaluations (attempt_id);

create table counters (
    name text primary key,
    count integer not null,
    total real not null,
    least real not null,
    most real not null
);
