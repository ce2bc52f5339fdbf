-- +goose Up
-- A device is a kind of silicon: model, form factor and memory. These are the ones that workers have been seen with.
create table devices (
    label text primary key,
    name text not null, -- as its driver has it
    memory bigint not null, -- bytes
    seen_at timestamptz not null
);

-- The names that a task was given for its devices: "H100" stands for all silicon of that family, also what comes later.
alter table tasks add column asked text;

-- Devices were called by their model alone. The program sorts the old rows by their machine records when it opens the database.
insert into settings (key, value) select 'sort_devices', 'silicon' where exists (select 1 from runs);
