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
-- E-mail: the kinds that a person chose, and an address of their own choice beside that of their sign-in.
alter table inbox_choices add column mail_kinds text not null default '[]'; -- JSON
alter table inbox_choices add column address text not null default ''; -- confirmed; empty: that of the sign-in
alter table inbox_choices add column new_address text not null default ''; -- to be confirmed
alter table inbox_choices add column code_hash text not null default '';
alter table inbox_choices add column code_until datetime;
-- One e-mail. next_at null: it is over.
create table mails (
    id integer primary key autoincrement,
    user_id integer not null references users (id) on delete cascade,
    kind text not null, -- of its notice; confirm: it asks whether the address is right
    address text not null,
    subject text not null,
    body text not null,
    tries integer not null default 0,
    error text not null default '',
    created_at datetime not null,
    next_at datetime,
    sent_at datetime
);
create index mails_due on mails (next_at) where next_at is not null;
create index mails_person on mails (user_id, created_at);
create index mails_confirm on mails (created_at) where kind = 'confirm';
