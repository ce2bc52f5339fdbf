-- +goose Up
create table submissions (
    id integer primary key autoincrement,
    user_id integer not null references users (id),
    task_id integer not null references tasks (id) on delete cascade,
    version_id integer not null references task_versions (id) on delete cascade,
    mode text not null,
    file_name text not null,
    source_hash text not null references blobs (hash),
    via text not null default '',
    created_at datetime not null
);
create index submissions_user on submissions (user_id, id);
create index submissions_user_time on submissions (user_id, created_at);
create index submissions_task on submissions (task_id, user_id, id);
create index submissions_version on submissions (version_id);
create index submissions_source on submissions (source_hash);

create table runs (
    id integer primary key autoincrement,
    submission_id integer not null references submissions (id) on delete cascade,
    version_id integer not null references task_versions (id) on delete cascade,
    user_id integer not null references users (id),
    device text not null,
    mode text not null,
    state text not null,
    attempts integer not null default 0,
    losses integer not null default 0,
    attempt_id text not null default '',
    worker text not null default '',
    queued_at datetime not null,
    dispatched_at datetime,
    started_at datetime,
    ended_at datetime,
    failure text,
    ours boolean not null default false,
    score_ns real,
    std_ns real not null default 0,
    err_ns real not null default 0,
    harness text not null default '',
    machine text,
    wall_ns integer not null default 0,
    program_ns integer not null default 0,
    disqualified_at datetime,
    disqualified_why text not null default ''
);
create unique index runs_once on runs (submission_id, device);
create index runs_live on runs (device, user_id, id)
    where state not in ('done', 'failed', 'cancelled');
create index runs_valid on runs (version_id, device, user_id, score_ns, id)
    where mode = 'ranked' and state = 'done' and score_ns is not null and disqualified_at is null;

create table attempts (
    id text primary key,
    run_id integer not null references runs (id) on delete cascade,
    number integer not null,
    secret text not null,
    seed integer not null,
    worker text not null default '',
    created_at datetime not null,
    published_at datetime,
    taken_at datetime,
    ended_at datetime,
    outcome text not null default '',
    last_seq integer not null default 0,
    log_bytes integer not null default 0
);
create index attempts_run on attempts (run_id);

create table stages (
    id integer primary key autoincrement,
    run_id integer not null references runs (id) on delete cascade,
    attempt_id text not null,
    position integer not null,
    stage text not null,
    status text not null,
    result text not null,
    unique (attempt_id, position)
);
create index stages_run on stages (run_id);

create table run_events (
    id integer primary key autoincrement,
    submission_id integer not null,
    run_id integer not null references runs (id) on delete cascade,
    device text not null,
    attempt_id text not null default '',
    seq integer not null default 0,
    type text not null,
    state text not null,
    event text,
    failure text,
    score_ns real,
    created_at datetime not null
);
create unique index run_events_once on run_events (attempt_id, seq) where seq > 0;
create index run_events_submission on run_events (submission_id, id);
create index run_events_run on run_events (run_id);
create index run_events_time on run_events (created_at);

create table artifacts (
    id integer primary key autoincrement,
    run_id integer not null references runs (id) on delete cascade,
    name text not null,
    type text not null,
    size integer not null,
    hash text not null,
    created_at datetime not null,
    unique (run_id, name)
);
create index artifacts_hash on artifacts (hash);
