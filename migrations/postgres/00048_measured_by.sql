-- +goose Up
-- The run that measured it in its place: several runs of a pool that one measured again count once.
alter table measurements add column by_run bigint;
create index measurements_by on measurements (by_run) where by_run is not null;
