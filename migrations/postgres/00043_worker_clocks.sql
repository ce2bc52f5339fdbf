-- +goose Up
-- By how many milliseconds a worker's clock is behind the site's, as the site saw at its last heartbeat: the message's way included.
alter table workers add column behind_ms bigint not null default 0;
