-- +goose Up
-- What ranked runs measured is in one table: what runs counted with, what counted of runs that are on no board, and the legs of
-- confirmations. Scores are made of it (package pools).
create table samples (
    id integer primary key autoincrement,
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    epoch_id integer not null,
    source_key text not null,
    user_id integer not null, -- 0: not known
    run_id integer not null, -- the person's run that was measured; it may be gone
    by_run integer not null, -- the run that measured it: that run itself, or one that the site queued after it
    purpose text not null, -- 'submitted'; 'confirm', 'remeasure': the site chose to measure it
    unfinished boolean not null, -- a process did not come to its end
    aside_at datetime, -- when it was set aside; null: it counts
    why text not null, -- how its run ended, or why it is set aside
    score_ns real not null, -- of this measurement alone; 0: its run ended without a score
    std_ns real not null,
    err_ns real not null,
    clock text not null,
    interval_low real,
    interval_high real,
    processes integer not null,
    noisy boolean not null,
    roof real,
    disturbed text not null,
    cases text not null, -- for each case the medians of the processes that came to their end, in JSON
    ended_at datetime not null
);
create unique index samples_by on samples (by_run, purpose);
create index samples_source on samples (version_id, device, source_key, epoch_id);

-- Sources that are held back from a board until a reviewer has looked: a leg of their confirmation failed.
create table holds (
    id integer primary key autoincrement,
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    user_id integer not null references users (id) on delete cascade,
    source_key text not null,
    why text not null,
    created_at datetime not null
);
create unique index holds_source on holds (version_id, device, user_id, source_key);

-- Each source has a key.
update submissions set source_key = source_hash where source_key = '';

-- What runs counted with that people sent. Numbers of a confirmation, or of a run that measured it again, are samples of their own.
insert into samples (version_id, device, epoch_id, source_key, user_id, run_id, by_run, purpose, unfinished, aside_at, why, score_ns, std_ns, err_ns, clock,
        interval_low, interval_high, processes, noisy, roof, disturbed, cases, ended_at)
    select r.version_id, r.device, r.epoch_id, s.source_key, r.user_id, r.id, r.id, 'submitted',
        false, case when m.fixed or m.by_run is not null then r.ended_at end, case when m.fixed or m.by_run is not null then 'measured again' else '' end,
        m.score_ns, m.std_ns, m.err_ns, m.clock, m.interval_low, m.interval_high, m.processes, m.noisy, m.roof, m.disturbed, m.cases, r.ended_at
    from measurements m join runs r on r.id = m.run_id join submissions s on s.id = r.submission_id where r.profile_of is null;
insert into samples (version_id, device, epoch_id, source_key, user_id, run_id, by_run, purpose, unfinished, aside_at, why, score_ns, std_ns, err_ns, clock,
        interval_low, interval_high, processes, noisy, roof, disturbed, cases, ended_at)
    select r.version_id, r.device, r.epoch_id, s.source_key, r.user_id, r.id, r.id, 'submitted', false, null, '',
        r.score_ns, r.std_ns, r.err_ns, r.clock, r.interval_low, r.interval_high, r.processes, r.noisy, r.roof, r.disturbed, '[]', r.ended_at
    from runs r join submissions s on s.id = r.submission_id
    where r.mode = 'ranked' and r.state = 'done' and r.score_ns is not null and r.profile_of is null and r.id not in (select run_id from measurements);

-- Legs of confirmations, and scores that were fixed before legs were kept.
insert into samples (version_id, device, epoch_id, source_key, user_id, run_id, by_run, purpose, unfinished, aside_at, why, score_ns, std_ns, err_ns, clock,
        interval_low, interval_high, processes, noisy, roof, disturbed, cases, ended_at)
    select l.version_id, l.device, l.epoch_id, l.source_key, coalesce(r.user_id, 0), coalesce(r.profile_of, l.run_id), l.run_id, 'confirm', false, null, '',
        l.score_ns, l.std_ns, l.err_ns, coalesce(r.clock, ''), l.interval_low, l.interval_high, l.processes, l.noisy, r.roof, l.disturbed, l.cases, coalesce(r.ended_at, l.created_at)
    from legs l left join runs r on r.id = l.run_id where true on conflict do nothing;
insert into samples (version_id, device, epoch_id, source_key, user_id, run_id, by_run, purpose, unfinished, aside_at, why, score_ns, std_ns, err_ns, clock,
        interval_low, interval_high, processes, noisy, roof, disturbed, cases, ended_at)
    select r.version_id, r.device, r.epoch_id, s.source_key, r.user_id, r.id, r.id, 'confirm', false, null, '',
        m.score_ns, m.std_ns, m.err_ns, m.clock, m.interval_low, m.interval_high, m.processes, m.noisy, m.roof, m.disturbed, m.cases, r.ended_at
    from measurements m join runs r on r.id = m.run_id join submissions s on s.id = r.submission_id
    where m.fixed and not exists (select 1 from legs l where l.version_id = r.version_id and l.device = r.device and l.epoch_id = r.epoch_id and l.source_key = s.source_key);

-- Other legs, and runs that were measured again. They count if their numbers were taken; what new software measured is that of the run
-- itself by now.
insert into samples (version_id, device, epoch_id, source_key, user_id, run_id, by_run, purpose, unfinished, aside_at, why, score_ns, std_ns, err_ns, clock,
        interval_low, interval_high, processes, noisy, roof, disturbed, cases, ended_at)
    select r.version_id, r.device, r.epoch_id, s.source_key, r.user_id, r.profile_of, r.id, case when r.confirmation_id is null then 'remeasure' else 'confirm' end,
        false, case when r.id not in (select by_run from measurements where by_run is not null) then r.ended_at end,
        case when r.id in (select by_run from measurements where by_run is not null) then '' else 'its confirmation or remeasurement goes on' end,
        m.score_ns, m.std_ns, m.err_ns, m.clock, m.interval_low, m.interval_high, m.processes, m.noisy, m.roof, m.disturbed, m.cases, r.ended_at
    from measurements m join runs r on r.id = m.run_id join submissions s on s.id = r.submission_id where r.profile_of is not null on conflict do nothing;
insert into samples (version_id, device, epoch_id, source_key, user_id, run_id, by_run, purpose, unfinished, aside_at, why, score_ns, std_ns, err_ns, clock,
        interval_low, interval_high, processes, noisy, roof, disturbed, cases, ended_at)
    select r.version_id, r.device, r.epoch_id, s.source_key, r.user_id, r.id, m.by_run, 'remeasure', false, null, '',
        m.score_ns, m.std_ns, m.err_ns, m.clock, m.interval_low, m.interval_high, m.processes, m.noisy, m.roof, m.disturbed, m.cases, r.ended_at
    from measurements m join runs r on r.id = m.run_id join submissions s on s.id = r.submission_id
    where m.by_run not in (select id from runs) and m.run_id = (select min(x.run_id) from measurements x where x.by_run = m.by_run);

-- Runs without a score on a board: cancelled, failed, or deleted.
insert into samples (version_id, device, epoch_id, source_key, user_id, run_id, by_run, purpose, unfinished, aside_at, why, score_ns, std_ns, err_ns, clock,
        processes, noisy, disturbed, cases, ended_at)
    select version_id, device, epoch_id, source_key, user_id, run_id, run_id, 'submitted', unfinished > 0, null, why,
        0, 0, 0, '', 0, false, '', cases, ended_at
    from retained where why <> 'unconfirmed' on conflict do nothing;
insert into holds (version_id, device, user_id, source_key, why, created_at)
    select version_id, device, user_id, source_key, '', min(ended_at) from retained where why = 'unconfirmed' group by version_id, device, user_id, source_key;

drop table measurements;
drop table retained;
drop table legs;

-- Confirmations and runs that were measured again have no copies of scores: these follow from samples.
alter table runs add column was_ns real; -- the score before confirmations; null: it comes from none
update runs set was_ns = (select case when f.challenger_id = runs.id then f.challenger_was else f.holder_was end from confirmations f
        where f.challenger_id = runs.id and abs(f.challenger_ns - runs.score_ns) <= 1e-9 * runs.score_ns
            or f.holder_id = runs.id and abs(f.holder_ns - runs.score_ns) <= 1e-9 * runs.score_ns order by f.id limit 1)
    where id in (select challenger_id from confirmations union select holder_id from confirmations);
alter table confirmations drop column challenger_was;
alter table confirmations drop column challenger_ns;
alter table confirmations drop column holder_was;
alter table confirmations drop column holder_ns;

-- What a run had measured before new software measured it, and before a rejudge was applied.
update samples set (score_ns, interval_low, interval_high, epoch_id, cases) =
        (select x.was_ns, x.was_low, x.was_high, x.was_epoch_id, '[]' from reruns x where x.id = (select max(y.id) from reruns y join rejudges j on j.id = y.rejudge_id
            where y.run_id = samples.by_run and j.kind = 'epoch' and y.now_ns is not null and y.now_epoch_id > y.was_epoch_id))
    where purpose = 'submitted' and aside_at is null and exists (select 1 from reruns y join rejudges j on j.id = y.rejudge_id
        where y.run_id = samples.by_run and j.kind = 'epoch' and y.now_ns is not null and y.now_epoch_id > y.was_epoch_id and y.now_epoch_id = samples.epoch_id);
update samples set aside_at = null, why = '' where purpose = 'remeasure' and by_run in (select r.id from runs r join reruns x on x.id = r.rerun_id
    join rejudges j on j.id = x.rejudge_id where j.kind = 'epoch' and x.now_ns is not null and x.now_epoch_id > x.was_epoch_id);
update samples set (score_ns, interval_low, interval_high, cases, aside_at) =
        (select x.was_ns, x.was_low, x.was_high, '[]', j.applied_at from reruns x join rejudges j on j.id = x.rejudge_id where x.id = (select max(y.id) from reruns y
            join rejudges k on k.id = y.rejudge_id where y.run_id = samples.by_run and y.now_ns is not null and k.applied_at is not null))
    where purpose = 'submitted' and why = 'measured again' and exists (select 1 from reruns y join rejudges k on k.id = y.rejudge_id
        where y.run_id = samples.by_run and y.now_ns is not null and k.applied_at is not null);

-- A run that measures another again names the rejudge.
drop index runs_last_end;
drop index runs_reruns;
update runs set rerun_id = (select x.rejudge_id from reruns x where x.id = runs.rerun_id) where rerun_id is not null;
alter table runs rename column rerun_id to rejudge_id;
create index runs_rejudges on runs (rejudge_id) where rejudge_id is not null;
-- The expression is the priority in models/work/work.go, in the same words: otherwise the queue cannot use the index.
create index runs_last_end on runs (device, user_id,
    (case when mode = 'baseline' then 3 when profile_of is null or overdue then 1 when rejudge_id is null then 2 else 4 end), ended_at)
    where ended_at is not null and dispatched_at is not null and confirmation_id is null;
drop table reruns;
