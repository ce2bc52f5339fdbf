-- +goose Up
-- The 95 % interval of a score, in nanoseconds, from so many fresh processes of the submission; null where the score has
-- none. Noisy: the processes differed too much for the interval to become as narrow as it should be.

alter table runs add column interval_low double precision;
alter table runs add column interval_high double precision;
alter table runs add column processes integer not null default 0;
alter table runs add column noisy boolean not null default false;

alter table entries add column interval_low double precision;
alter table entries add column interval_high double precision;
alter table entries add column processes integer not null default 0;
alter table entries add column noisy boolean not null default false;
