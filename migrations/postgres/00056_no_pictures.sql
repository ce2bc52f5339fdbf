-- +goose Up
-- Pages show the picture that is made from an account's number, and nothing is fetched from sign-in providers.
drop table pictures;
alter table users drop column picture;
alter table users drop column picture_off;
alter table users drop column picture_tried_at;
alter table users drop column avatar_url;
