-- +goose Up
-- What a person's best was at a time, on one board: each row of a board's page asks it. Without this the database read all
-- bests of the person on all boards.
create index bests_line on bests (version_id, device, user_id, age, achieved_at, score_ns);
