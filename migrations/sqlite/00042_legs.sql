-- +goose Up
-- What the legs of confirmations measured, by their source: all confirmations of a source count together, whoever
-- challenged it, and they outlive its runs.
create table legs (
    id integer primary key autoincrement,
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    epoch_id integer not null,
    source_key text not null,
    run_id integer not null, -- the leg, or the run whose score was confirmed before legs were kept; it may be gone
    score_ns real not null,
    std_ns real not null,
    err_ns real not null,
    interval_low real,
    interval_high real,
    processes integer not null,
    noisy boolean not null,
    disturbed text not null,
    created_at datetime not null -- when the confirmation began
);
create index legs_source on legs (version_id, device, source_key, epoch_id);
create index submissions_key on submissions (version_id, source_key);
-- Infrastructure errors ended it without numbers: it may begin again.
alter table confirmations add column again boolean not null default false;
