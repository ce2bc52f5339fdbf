-- +goose Up
-- A run that somebody else cancelled than its person, who chose nothing by it.
alter table runs add column stopped_by_staff boolean not null default false;
