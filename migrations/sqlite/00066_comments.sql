-- +goose Up
-- One flat list of comments for each task, and for each submission whose source everyone may read.
create table comments (
    id integer primary key autoincrement,
    task_id integer not null references tasks (id) on delete cascade,
    submission_id integer references submissions (id) on delete cascade, -- null: about the task itself
    user_id integer not null references users (id) on delete cascade,
    writeup boolean not null default false, -- the author's text on top
    body text not null, -- Markdown; empty: removed
    created_at datetime not null,
    edited_at datetime,
    hidden_at datetime,
    hidden_by integer not null default 0,
    hidden_why text not null default '',
    removed_at datetime -- by the person who wrote it; the row still counts against limits
);
create index comments_task on comments (task_id, id) where submission_id is null;
create index comments_submission on comments (submission_id, id) where submission_id is not null;
create index comments_person on comments (user_id, created_at);
create unique index comments_task_writeup on comments (task_id) where writeup and submission_id is null and removed_at is null;
create unique index comments_submission_writeup on comments (submission_id) where writeup and removed_at is null;
create table comment_reports (
    id integer primary key autoincrement,
    comment_id integer not null references comments (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    reason text not null,
    created_at datetime not null,
    closed_at datetime,
    closed_by integer not null default 0,
    outcome text not null default ''
);
create unique index comment_reports_open on comment_reports (comment_id, user_id) where closed_at is null;
create index comment_reports_person on comment_reports (user_id, created_at);
-- How many comments everyone sees there, and whether more are taken.
alter table tasks add column comments integer not null default 0;
alter table tasks add column comments_locked boolean not null default false;
alter table submissions add column comments integer not null default 0;
alter table submissions add column comments_locked boolean not null default false;
alter table events add column comments_closed boolean not null default false; -- from its start to its end
