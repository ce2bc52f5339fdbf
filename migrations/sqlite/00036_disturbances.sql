-- +goose Up
-- Why the conditions under which a score was measured were bad; empty: they were good, or nothing is known of them.
alter table runs add column disturbed text not null default '';
alter table entries add column disturbed text not null default '';
alter table measurements add column disturbed text not null default '';
