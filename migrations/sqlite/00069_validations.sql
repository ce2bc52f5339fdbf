-- +goose Up
-- What the validation script of a task said of an entry's run.
create table validations (
    run_id integer primary key references runs (id) on delete cascade,
    by_run integer not null, -- in which the script runs
    script_version text not null,
    asked_by integer not null references users (id),
    asked_at datetime not null,
    answer text not null default '', -- empty: it waits
    message text not null default '',
    ended_at datetime
);
create index validations_by_run on validations (by_run);
-- From here on everyone sees a hidden task: the start of its event.
alter table tasks add column opens_at datetime;
-- When a member was removed last. It stays when they come in again with a newer code, and leave.
alter table members add column barred_at datetime;
update members set barred_at = removed_at;
