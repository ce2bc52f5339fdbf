-- +goose Up
-- A task may take runs after its deadline, as practice.
alter table tasks add column practice boolean not null default false;
