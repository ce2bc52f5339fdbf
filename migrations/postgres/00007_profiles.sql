-- +goose Up
-- A profile that follows a ranked run is a run of the same submission on the same device.
alter table runs add column profile_of bigint references runs (id) on delete cascade;
drop index runs_once;
create unique index runs_once on runs (submission_id, device) where profile_of is null;
create unique index runs_profile_of on runs (profile_of) where profile_of is not null;
