-- +goose Up
-- A person may leave their sources out of datasets.
alter table users add column no_dataset boolean not null default false;
