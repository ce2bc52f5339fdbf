-- +goose Up
-- Command lines that ask to be signed in, until somebody has said yes or no in a browser. The token is made when the
-- command asks for it, so that its secret is never here.
create table logins (
    id integer primary key autoincrement,
    secret_hash text not null unique, -- of what the command asks with
    code text not null unique,        -- what a person compares or types
    host text not null,               -- as the command calls its machine
    address text not null,
    created_at datetime not null,
    expires_at datetime not null,
    user_id integer references users (id) on delete cascade, -- who said yes
    refused boolean not null default false
);
create index logins_expiry on logins (expires_at);
