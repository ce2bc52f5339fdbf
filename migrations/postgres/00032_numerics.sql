-- +goose Up
-- How far a run's answers are from the task's reference in double precision, the worst of its tests: in units of the last
-- place of the answer's type, and over the reference's size. Null where the task has no such reference.
alter table runs add column error_ulp double precision;
alter table runs add column error_relative double precision;
