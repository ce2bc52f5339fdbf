-- +goose Up
-- What Nsight Compute shall profile of a submission of mode profile, as JSON; null: as usual.
alter table submissions add column profile_filter text;
