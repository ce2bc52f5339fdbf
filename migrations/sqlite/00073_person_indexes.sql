-- +goose Up
-- The submissions of a person by day are counted in this index alone, which needs all columns that the question names.
drop index submissions_days;
create index submissions_days on submissions (user_id, created_at, task_id, frozen_event);
-- The band of each board that has its last place with points, which tells quickly where a person can have points.
create index bands_last on bands (version_id, device, age, score_ns) where ahead < 20 and ahead + size >= 20;
