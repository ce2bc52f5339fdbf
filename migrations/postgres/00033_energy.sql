-- +goose Up
-- What a call of a run's longest case draws, in joules, of the whole board with its idle power; null where it was not measured.
alter table runs add column energy_j double precision;
alter table entries add column energy_j double precision;
create index entries_energy on entries (version_id, device, age, energy_j, run_id) where energy_j is not null;
