-- +goose Up
-- A confirmation's leg that has waited for so long that it gives way to people's work no more.
alter table runs add column overdue boolean not null default false;
