-- +goose Up
-- Packages of the Python that runs a worker's jobs, as JSON: versions by name.
alter table workers add column packages text;

-- Packages that the worker of this work must have, as in "torch>=2.9 triton".
alter table runs add column requires text not null default '';
alter table evaluations add column requires text not null default '';
