-- +goose Up
-- From which seed the values of a version's cases are drawn on a device, for all runs of one epoch.
create table draws (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    epoch_id integer not null, -- 0: software that is not known
    seed text not null, -- secret while the epoch is the board's newest
    created_at datetime not null,
    primary key (version_id, device, epoch_id)
);
alter table attempts add column draw_epoch_id integer; -- whose draw its job had; null: none
alter table runs add column memory_peak integer; -- bytes that a ranked run's programs had at most, on a CPU; null: not measured
