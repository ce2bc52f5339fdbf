-- +goose Up
-- What processes of ranked runs measured that stand on no board: of runs that were cancelled or failed in their ranked stage, or were
-- deleted by their person. With valid runs of equal source it counts as theirs does, so that nobody chooses which runs count.
create table retained (
    id integer primary key autoincrement,
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    user_id integer not null references users (id) on delete cascade,
    epoch_id integer not null,
    source_key text not null,
    run_id integer not null, -- that measured it; it may be gone
    why text not null, -- 'cancelled', 'failed', 'deleted'; 'unconfirmed': a confirmation of this source failed, and holds it back
    cases text not null, -- for each case the medians of the processes that came to their end, in JSON
    unfinished integer not null, -- processes that did not; each counts like the slowest of all
    ended_at datetime not null
);
create unique index retained_run on retained (run_id, why);
create index retained_pool on retained (user_id, version_id, device, source_key, epoch_id);

-- When a score became what it is: when its run ended, or the newest of the runs that it is made of.
alter table runs add column scored_at datetime;
update runs set scored_at = ended_at where mode = 'ranked' and state = 'done' and score_ns is not null;
update runs set scored_at = (select max(m.ended_at) from runs m where m.version_id = runs.version_id and m.device = runs.device and m.user_id = runs.user_id
        and m.pool_id = runs.id and m.mode = 'ranked' and m.state = 'done')
    where pool_id = id and pooled > 0;

-- Bands have another rule, and records another date.
insert into settings (key, value) select 'rebuild_boards', 'pools' where exists (select 1 from boards)
    and not exists (select 1 from settings where key = 'rebuild_boards');
