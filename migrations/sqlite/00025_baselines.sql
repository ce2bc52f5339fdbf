-- +goose Up
-- Runs of the site itself, to compare with: of each version and device the current one of each name. Their mode is
-- "baseline", so that none of them is an entry.
create table baselines (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    name text not null,
    run_id integer not null references runs (id) on delete cascade,
    source_hash text not null,
    primary key (version_id, device, name)
);
create index baselines_run on baselines (run_id);
