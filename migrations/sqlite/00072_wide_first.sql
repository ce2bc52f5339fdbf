-- +goose Up
-- The interval of the first of a tie counts up to 10 % behind its score alone: boards rank anew.
insert into settings (key, value) values ('rebuild_boards', 'the interval of the first of a tie counts up to 10 % behind its score') on conflict (key) do nothing;
