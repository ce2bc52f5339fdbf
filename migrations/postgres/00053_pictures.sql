-- +goose Up
-- A person's picture from their sign-in provider, as the site has drawn it again. users.picture is its digest, which pages need:
-- '' shows the one that is made from the account's number.
create table pictures (
    user_id bigint primary key references users (id) on delete cascade,
    digest text not null,
    data bytea not null
);
alter table users add column picture text not null default '';
alter table users add column picture_off boolean not null default false; -- none is fetched: its person wants the made one
alter table users add column picture_tried_at timestamptz;
