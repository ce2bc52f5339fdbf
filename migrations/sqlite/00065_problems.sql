-- +goose Up
alter table task_versions add column problem text not null default ''; -- of the definition, so that a list of tasks does not read definitions
