-- +goose Up
-- The tags of a version's definition, so that a list of tasks does not read definitions.
alter table task_versions add column tags text;
-- What the devices did in the last day is read of all runs.
create index runs_ended on runs (ended_at);
