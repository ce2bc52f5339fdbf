-- +goose Up
-- For how many nanoseconds the work that has ended held units of its device, times their number. Before this version it was not counted.
alter table runs add column unit_ns integer not null default 0;
alter table evaluations add column unit_ns integer not null default 0;
create index runs_charged on runs (user_id, ended_at) where unit_ns > 0;
create index evaluations_charged on evaluations (user_id, ended_at) where unit_ns > 0;
