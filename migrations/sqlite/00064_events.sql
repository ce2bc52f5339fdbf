-- +goose Up
-- An event is several tasks with one start, one end, and standings over all their boards.
create table events (
    id integer primary key autoincrement,
    slug text not null unique,
    title text not null,
    owner_id integer not null references users (id),
    about text not null default '', -- Markdown
    starts_at datetime not null,
    ends_at datetime not null,
    frozen_at datetime, -- null: never
    revealed_at datetime, -- null: not yet
    points text not null,
    by_team boolean not null default false,
    created_at datetime not null
);
create table event_tasks (
    event_id integer not null references events (id) on delete cascade,
    task_id integer not null references tasks (id) on delete cascade,
    primary key (event_id, task_id)
);
create index event_tasks_task on event_tasks (task_id);
-- While an event is frozen, its new submissions are hidden and their runs held back.
alter table submissions add column frozen_event integer not null default 0; -- 0: none
create index submissions_frozen on submissions (frozen_event) where frozen_event <> 0;
