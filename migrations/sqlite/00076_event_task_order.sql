-- +goose Up
-- The organizer's order of an event's tasks.
alter table event_tasks add column position integer not null default 0;
