-- +goose Up
-- People who share a budget of GPU-seconds a day; seconds 0 is no limit. A person is in one team at the most.
create table teams (
    id integer primary key autoincrement,
    name text not null,
    name_key text not null unique,
    seconds integer not null default 0
);
create table team_members (
    user_id integer primary key references users (id) on delete cascade,
    team_id integer not null references teams (id) on delete cascade
);
create index team_members_team on team_members (team_id);
