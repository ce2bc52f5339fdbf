-- +goose Up
-- Whether no case of the run took less time than its kernels take under Nsight Compute; null: not known.
alter table runs add column backed boolean;
