-- +goose Up
alter table tasks add column limits text not null default '[]'; -- of what one person may submit, in JSON
-- What people submitted to tasks in the last day. It outlives the submissions: deleting one gives nothing back.
create table uses (
    submission_id integer primary key,
    user_id integer not null references users (id) on delete cascade,
    task_id integer not null references tasks (id) on delete cascade,
    mode text not null,
    created_at datetime not null,
    held_ns integer not null default 0
);
create index uses_person on uses (user_id, task_id, created_at);
create index uses_task on uses (task_id);
create index uses_old on uses (created_at);
