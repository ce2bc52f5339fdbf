-- +goose Up
-- The bests of a board in the order of their scores: the points of a season are made of the first of them.
create index bests_order on bests (version_id, device, age, score_ns, run_id, achieved_at, user_id);
