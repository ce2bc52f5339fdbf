-- +goose Up
-- What the author of a record says of it, in a sentence; empty: nothing.
alter table runs add column note text not null default '';
