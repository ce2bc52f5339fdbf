-- +goose Up
-- What the pages of a person, of all tasks and of the latest records read lies in an index: rows of one person are spread
-- over the whole table, and each took a page of it.
create index submissions_days on submissions (user_id, created_at, task_id);
drop index submissions_user_time;
create index entries_person on entries (user_id, version_id, device, age, score_ns, run_id);
drop index entries_user;
create index records_latest on records (achieved_at, run_id);
drop index records_time;
create index bests_steps on bests (user_id, version_id, device, achieved_at, run_id, score_ns);
drop index bests_person;
