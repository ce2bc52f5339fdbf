-- +goose Up
-- The software under a measurement. A later one has a larger id; 0 is that of runs from before this was kept.
create table epochs (
    id integer primary key autoincrement,
    driver text not null,
    cuda text not null,
    compiler text not null,
    torch text not null,
    triton text not null,
    harness text not null,
    seen_at datetime not null,
    unique (driver, cuda, compiler, torch, triton, harness)
);

-- Which epochs a device has had, for each kind of language.
create table device_epochs (
    device text not null,
    kind text not null, -- "native", "python"
    epoch_id integer not null references epochs (id),
    seen_at datetime not null,
    primary key (device, kind, epoch_id)
);

-- Boards show the newest epoch first: age is minus its id, so that rows of one epoch lie together in the order of the board.
alter table runs add column epoch_id integer not null default 0;
alter table entries add column age integer not null default 0;
alter table bands add column age integer not null default 0;
alter table records add column age integer not null default 0;
alter table boards add column epoch_id integer not null default 0;
drop index entries_order;
create index entries_order on entries (version_id, device, age, score_ns, run_id);
drop index bands_order;
create index bands_order on bands (version_id, device, age, score_ns, run_id);

-- Runs are measured again at low priority: because the epoch of their device changed, or because somebody wants them judged
-- anew. Each is measured by a ranked run that follows it.
create table rejudges (
    id integer primary key autoincrement,
    kind text not null, -- "epoch", "rejudge"
    version_id integer references task_versions (id) on delete cascade, -- of a rejudge
    device text not null default '', -- of an epoch
    epoch_id integer not null default 0, -- the new one
    created_by integer not null default 0, -- 0: the site
    reason text not null default '',
    created_at datetime not null,
    ended_at datetime, -- everything is measured, or it was cancelled
    applied_at datetime,
    cancelled boolean not null default false
);
create unique index rejudges_open on rejudges (version_id) where kind = 'rejudge' and applied_at is null and not cancelled;
create index rejudges_device on rejudges (device, id);
create table reruns (
    id integer primary key autoincrement,
    rejudge_id integer not null references rejudges (id) on delete cascade,
    run_id integer not null references runs (id) on delete cascade,
    was_ns real not null,
    was_low real,
    was_high real,
    was_epoch_id integer not null,
    now_ns real,
    now_low real,
    now_high real,
    now_epoch_id integer not null default 0,
    failed text not null default '', -- why the run did not pass again
    undone text not null default '', -- why it was not measured
    ended_at datetime,
    unique (rejudge_id, run_id)
);
create index reruns_run on reruns (run_id);

alter table runs add column rerun_id integer; -- it measures the run of this one again
create index runs_reruns on runs (rerun_id) where rerun_id is not null;

-- What follows another run never counts itself: legs of confirmations, reruns, profiles.
drop index runs_profile_of;
create unique index runs_profile_of on runs (profile_of) where profile_of is not null and mode = 'profile';
drop index runs_valid;
create index runs_valid on runs (version_id, device, user_id, epoch_id desc, score_ns, id)
    where mode = 'ranked' and state = 'done' and score_ns is not null and disqualified_at is null and profile_of is null;
