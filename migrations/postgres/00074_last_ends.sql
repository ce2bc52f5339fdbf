-- +goose Up
-- The last end of the work of a person or caller on a device says who is next in its queue. The expressions are the priorities in
-- models/work/work.go, in the same words: otherwise the queue cannot use the indexes.
create index runs_last_end on runs (device, user_id,
    (case when mode = 'baseline' then 3 when profile_of is null or overdue then 1 when rerun_id is null then 2 else 4 end), ended_at)
    where ended_at is not null and dispatched_at is not null and confirmation_id is null;
create index evaluations_last_end on evaluations (device, caller, (case when batch = '' then 0 else 1 end), ended_at)
    where ended_at is not null and dispatched_at is not null;
