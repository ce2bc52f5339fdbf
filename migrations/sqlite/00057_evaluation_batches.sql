-- +goose Up
-- Evaluations that were sent together, and keys by which a request that is sent again is the same one.
alter table evaluations add column batch text not null default ''; -- empty: it was sent alone
alter table evaluations add column batch_index integer not null default 0; -- of its request in the batch, from 0
alter table evaluations add column batch_result integer not null default 0; -- its place among the results, in the order of ends, from 1; 0: it has not ended
alter table evaluations add column parked integer not null default 0; -- 1: one of a batch that is not in the queue yet, because its caller has enough there
alter table evaluations add column request_key text not null default '';
create index evaluations_queued on evaluations (device, caller, queued_at, id) where ended_at is null and parked = 0;
create index evaluations_batch on evaluations (batch, batch_result) where batch <> '';
create index evaluations_request on evaluations (request_key, batch_index) where request_key <> '';
