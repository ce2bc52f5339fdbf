-- +goose Up
-- Evaluations whose caller said reuse_result: of equal ones one is measured, and the others share its result.
alter table evaluations add column request_hash text not null default ''; -- of what is measured
alter table evaluations add column shares text not null default ''; -- the evaluation whose result it has
create index evaluations_same on evaluations (request_hash, device) where request_hash <> '';
create index evaluations_sharing on evaluations (shares) where shares <> '';
