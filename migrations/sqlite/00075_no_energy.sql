-- +goose Up
-- The energy of a call is measured no more.
drop index entries_energy;
alter table runs drop column energy_j;
alter table entries drop column energy_j;
