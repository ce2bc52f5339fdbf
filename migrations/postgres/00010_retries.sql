-- +goose Up
-- retries counts all lost attempts, losses those that the work itself may have brought down; after
-- each the next attempt waits, longer every time.
alter table runs add column retries bigint not null default 0;
alter table runs add column not_before timestamptz;
alter table evaluations add column retries bigint not null default 0;
alter table evaluations add column not_before timestamptz;
update runs set retries = losses;
update evaluations set retries = losses;
