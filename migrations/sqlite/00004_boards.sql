-- +goose Up
-- Projections of runs: `Store.RebuildEntries` makes all three anew.
create table entries (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    user_id integer not null references users (id),
    run_id integer not null,
    submission_id integer not null,
    score_ns real not null,
    std_ns real not null,
    err_ns real not null,
    achieved_at datetime not null,
    primary key (version_id, device, user_id)
);
create index entries_order on entries (version_id, device, score_ns, run_id);
create index entries_run on entries (run_id);

create table boards (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    change integer not null,
    size integer not null,
    leaders text,
    changed_at datetime not null,
    primary key (version_id, device)
);

create table records (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    run_id integer not null,
    user_id integer not null references users (id),
    submission_id integer not null,
    score_ns real not null,
    achieved_at datetime not null,
    primary key (version_id, device, run_id)
);
