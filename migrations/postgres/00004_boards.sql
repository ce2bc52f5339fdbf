-- +goose Up
-- Projections of runs: `Store.RebuildEntries` makes all three anew.
create table entries (
    version_id bigint not null references task_versions (id) on delete cascade,
    device text not null,
    user_id bigint not null references users (id),
    run_id bigint not null,
    submission_id bigint not null,
    score_ns double precision not null,
    std_ns double precision not null,
    err_ns double precision not null,
    achieved_at timestamptz not null,
    primary key (version_id, device, user_id)
);
create index entries_order on entries (version_id, device, score_ns, run_id);
create index entries_run on entries (run_id);

create table boards (
    version_id bigint not null references task_versions (id) on delete cascade,
    device text not null,
    change bigint not null,
    size bigint not null,
    leaders text,
    changed_at timestamptz not null,
    primary key (version_id, device)
);

create table records (
    version_id bigint not null references task_versions (id) on delete cascade,
    device text not null,
    run_id bigint not null,
    user_id bigint not null references users (id),
    submission_id bigint not null,
    score_ns double precision not null,
    achieved_at timestamptz not null,
    primary key (version_id, device, run_id)
);
