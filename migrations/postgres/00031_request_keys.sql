-- +goose Up
-- A submission that is sent again with the same key, because its answer was lost, is the same one.
alter table submissions add column request_key text;
create unique index submissions_request on submissions (user_id, request_key) where request_key is not null;
