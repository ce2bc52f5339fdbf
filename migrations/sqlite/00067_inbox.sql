-- +goose Up
-- What people are told in their inbox. A person has read all up to users.inbox_read.
create table notices (
    id integer primary key autoincrement,
    user_id integer not null references users (id) on delete cascade,
    kind text not null,
    task_id integer not null references tasks (id) on delete cascade,
    submission_id integer references submissions (id) on delete cascade,
    comment_id integer references comments (id) on delete cascade,
    actor_id integer not null default 0, -- who did it; 0: the site
    device text not null default '',
    state text not null default '', -- of a run that ended
    created_at datetime not null
);
create index notices_person on notices (user_id, id);
create index notices_task on notices (task_id);
create index notices_submission on notices (submission_id) where submission_id is not null;
create index notices_comment on notices (comment_id) where comment_id is not null;
alter table users add column inbox_read integer not null default 0;
-- What a person chose; without a row: all kinds are on.
create table inbox_choices (
    user_id integer primary key references users (id) on delete cascade,
    off_kinds text not null default '[]' -- JSON: kinds that are off
);
alter table tasks add column reminded_of datetime; -- the deadline of which people were reminded
