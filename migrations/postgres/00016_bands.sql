-- +goose Up
-- Entries of a board whose difference the data do not show share a band, and so a rank. Made anew with the boards when
-- the program opens the database.
create table bands (
    version_id bigint not null references task_versions (id) on delete cascade,
    device text not null,
    run_id bigint not null, -- of its first entry
    score_ns double precision not null, -- of its first entry
    ahead bigint not null, -- entries before it
    size bigint not null,
    primary key (version_id, device, run_id)
);
create index bands_order on bands (version_id, device, score_ns, run_id);
create index bands_ahead on bands (version_id, device, ahead);
insert into settings (key, value) select 'rebuild_boards', 'bands' where exists (select 1 from boards)
    and not exists (select 1 from settings where key = 'rebuild_boards');
