-- +goose Up
-- The scores of the last records of a board, the oldest first, so that a list of tasks reads one row per board. Made anew
-- with the boards when the program opens the database.
alter table boards add column steps text;
insert into settings (key, value) select 'rebuild_boards', 'board steps' where exists (select 1 from boards)
    and not exists (select 1 from settings where key = 'rebuild_boards');
