-- +goose Up
-- An admin may add a submission for another person, and says publicly why.
alter table submissions add column added_why text not null default ''; -- empty: its person submitted it
