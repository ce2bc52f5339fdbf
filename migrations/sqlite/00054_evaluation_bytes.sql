-- +goose Up
-- What a caller has stored in the last hour, and in all, lies in an index: requests are up to 12 MiB, and those of cancelled
-- evaluations are dropped. Evaluations from before count as empty; they go within 30 days.
alter table evaluations add column request_bytes bigint not null default 0;
create index evaluations_caller on evaluations (caller, queued_at, request_bytes);
update evaluations set request = '{}' where state = 'cancelled';
