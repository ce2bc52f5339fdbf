-- +goose Up
-- Each run that was its person's best on a board when it ended. Made anew with the boards when the program opens the
-- database.
create table bests (
    version_id bigint not null references task_versions (id) on delete cascade,
    device text not null,
    user_id bigint not null references users (id),
    run_id bigint not null,
    submission_id bigint not null,
    age bigint not null, -- as an entry's: each epoch has bests of its own
    score_ns double precision not null,
    tries bigint not null, -- valid runs of the person up to this one
    achieved_at timestamptz not null,
    primary key (version_id, device, user_id, run_id)
);
create index bests_person on bests (user_id, achieved_at);
create index records_time on records (achieved_at);
insert into settings (key, value) select 'rebuild_boards', 'bests' where exists (select 1 from boards)
    and not exists (select 1 from settings where key = 'rebuild_boards');
