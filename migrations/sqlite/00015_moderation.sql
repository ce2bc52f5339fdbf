-- +goose Up
-- What asks for a look at a run: somebody's report, clocks that disagree, patterns in its source. A flag is closed
-- when somebody has looked; it never takes a run off a board.
create table flags (
    id integer primary key autoincrement,
    run_id integer not null references runs (id) on delete cascade,
    kind text not null,
    user_id integer not null default 0, -- who reported it; 0: the site
    detail text not null default '',
    created_at datetime not null,
    closed_at datetime,
    closed_by integer not null default 0,
    outcome text not null default ''
);
create unique index flags_open on flags (run_id, kind, user_id) where closed_at is null;
create index flags_waiting on flags (id) where closed_at is null;
create index flags_run on flags (run_id);
create index flags_person on flags (user_id, created_at);
insert into flags (run_id, kind, created_at)
    select d.run_id, 'clocks', e.achieved_at from clock_differences d join entries e on e.run_id = d.run_id;

-- Who disqualified a run (0: the site, or unknown), and why it was reinstated.
alter table runs add column disqualified_by integer not null default 0;
alter table runs add column reinstated_why text not null default '';
create index runs_disqualified on runs (submission_id) where disqualified_at is not null;

-- The log is read by subject (the history of a run), and counted by actor (limits).
create index audits_subject on audits (subject, id);
create index audits_actor on audits (actor_id, created_at);
