-- +goose Up
-- By which of the judge's clocks a score counts, empty where no judge took the time: "event", "wall", "event+wall".
alter table runs add column clock text not null default '';
alter table entries add column clock text not null default '';

-- Runs whose clocks differ by more than the tolerance, with the case in which they differ most.
create table clock_differences (
    run_id integer primary key references runs (id) on delete cascade,
    stage text not null,
    spec text not null,
    cases integer not null,
    clock text not null,
    event_ns real not null,
    wall_ns real not null,
    snapshot_ns real not null,
    tolerance_ns real not null
);
