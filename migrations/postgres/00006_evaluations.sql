-- +goose Up
create table evaluations (
    id text primary key,
    user_id bigint not null default 0,
    caller text not null,
    kind text not null,
    device text not null,
    request text not null,
    source_hash text not null,
    state text not null,
    change bigint not null default 1,
    attempt_id text not null default '',
    secret text not null default '',
    last_seq bigint not null default 0,
    losses bigint not null default 0,
    worker text not null default '',
    created_at timestamptz not null,
    dispatched_at timestamptz,
    published_at timestamptz,
    taken_at timestamptz,
    ended_at timestamptz,
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
    count bigint not null,
    total double precision not null,
    least double precision not null,
    most double precision not null
);
