-- +goose Up
-- A case of the run took less time than its kernels take under Nsight Compute, and no reviewer has decided.
alter table runs add column contradicted boolean not null default false;
