-- +goose Up
-- Whoever comes first on a board is measured again, in turns with who was first before: the legs of a confirmation,
-- which are runs that follow the two runs. Its numbers replace those that the two were selected by.
create table confirmations (
    id integer primary key autoincrement,
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    challenger_id integer not null references runs (id) on delete cascade,
    holder_id integer not null references runs (id) on delete cascade,
    challenger_was real not null,
    holder_was real not null,
    challenger_ns real,
    holder_ns real,
    one_unit boolean not null default false,
    outcome text not null default '',
    created_at datetime not null,
    ended_at datetime
);
create unique index confirmations_open on confirmations (version_id, device) where ended_at is null;
create index confirmations_challenger on confirmations (challenger_id);
create index confirmations_holder on confirmations (holder_id);

alter table runs add column confirmation_id integer; -- it is a leg of this one
alter table boards add column confirming integer not null default 0; -- run that waits for its confirmation
create index runs_legs on runs (confirmation_id) where confirmation_id is not null;
drop index runs_profile_of;
create unique index runs_profile_of on runs (profile_of) where profile_of is not null and confirmation_id is null;
drop index runs_valid;
create index runs_valid on runs (version_id, device, user_id, score_ns, id)
    where mode = 'ranked' and state = 'done' and score_ns is not null and disqualified_at is null and confirmation_id is null;
