-- +goose Up
-- Runs and evaluations are two kinds of one thing: work that waits, is given to an attempt, and ends. They have the
-- same columns for that, and one table of attempts. Work that has not ended is what has no ended_at.
update runs set ended_at = coalesce(started_at, queued_at) where ended_at is null and state in ('done', 'failed', 'cancelled');
update runs set ended_at = null where ended_at is not null and state not in ('done', 'failed', 'cancelled');
update runs set started_at = null where started_at is not null and state = 'queued';
update runs set started_at = coalesce(dispatched_at, queued_at) where started_at is null and state not in ('queued', 'done', 'failed', 'cancelled');

alter table evaluations rename column created_at to queued_at;
alter table evaluations rename column taken_at to started_at;
alter table evaluations add column attempts bigint not null default 0;
drop index evaluations_live;
drop index runs_live;
update evaluations set ended_at = coalesce(started_at, queued_at) where ended_at is null and state in ('completed', 'failed', 'timeout', 'cancelled');
update evaluations set ended_at = null where ended_at is not null and state not in ('completed', 'failed', 'timeout', 'cancelled');
update evaluations set attempts = retries + case when attempt_id <> '' and not (state = 'failed' and retries > 0) then 1 else 0 end;

alter table attempts alter column run_id drop not null;
alter table attempts add column evaluation_id text references evaluations (id) on delete cascade;
alter table attempts add constraint attempts_work check ((run_id is null) <> (evaluation_id is null));

-- Of an evaluation the current or last attempt is known. That of a cancelled one stays open, as a run's does, for its
-- worker may still be on it. One that waits after a loss has no attempt any more; the worker that lost it is kept,
-- because the next attempt avoids it.
insert into attempts (id, evaluation_id, number, secret, seed, worker, created_at, published_at, taken_at, ended_at, outcome, last_seq)
    select attempt_id, id, attempts, secret, 0, worker, coalesce(dispatched_at, queued_at), published_at, started_at,
        case when state = 'cancelled' then null else ended_at end,
        case state when 'completed' then 'done' when 'timeout' then 'done' when 'failed' then 'lost' else '' end, last_seq
    from evaluations where attempt_id <> '';
insert into attempts (id, evaluation_id, number, secret, seed, worker, created_at, ended_at, outcome)
    select 'lost-' || id, id, retries, '', 0, worker, queued_at, queued_at, 'lost'
    from evaluations where attempt_id = '' and worker <> '' and retries > 0;

alter table evaluations drop column secret;
alter table evaluations drop column last_seq;
alter table evaluations drop column published_at;

drop index attempts_run;
create index attempts_run on attempts (run_id) where run_id is not null;
create index attempts_evaluation on attempts (evaluation_id) where evaluation_id is not null;
create index runs_live on runs (device, user_id, queued_at, id) where ended_at is null;
create index evaluations_live on evaluations (device, caller, queued_at, id) where ended_at is null;
