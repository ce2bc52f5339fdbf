-- +goose Up
-- Valid runs of equal sources, of one person on one board and epoch, count by the score of all their processes together:
-- their pool. One run of a pool stands for it and has the pool's numbers; the others keep theirs and stand nowhere.
alter table submissions add column source_key text not null default ''; -- hash of the source without blanks that end a line and lines that are blank
alter table runs add column pool_id bigint; -- run that stands for its pool; null: it is in none
alter table runs add column pooled integer not null default 0; -- runs that the score is made of; 0: one, or those of a confirmation
alter table entries add column pooled integer not null default 0;
create index runs_pools on runs (version_id, device, user_id, pool_id) where pool_id is not null;

-- What a run counts with by itself: what it measured, or what was measured again in its place.
create table measurements (
    run_id bigint primary key references runs (id) on delete cascade,
    fixed boolean not null, -- by a confirmation: it is not pooled
    score_ns double precision not null,
    std_ns double precision not null,
    err_ns double precision not null,
    clock text not null,
    interval_low double precision,
    interval_high double precision,
    processes integer not null,
    noisy boolean not null,
    roof double precision,
    cases text not null -- for each case the medians of its processes, in JSON
);
