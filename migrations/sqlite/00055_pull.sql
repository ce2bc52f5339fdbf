-- +goose Up
-- Workers pull work from the database; there is no queue beside it. What was on its way at the update waits again where it
-- stood, and nothing counts: the jobs and results that the queue held are gone, and workers are updated with the site.
update attempts set ended_at = coalesce(taken_at, created_at), outcome = case when taken_at is null then 'lost' else 'returned' end
    where ended_at is null and id in (
        select attempt_id from runs where ended_at is null and attempt_id <> ''
        union all select attempt_id from evaluations where ended_at is null and attempt_id <> '');
update runs set attempt_id = '', dispatched_at = null, started_at = null, state = 'queued' where ended_at is null and attempt_id <> '';
update evaluations set attempt_id = '', dispatched_at = null, started_at = null, state = 'submitted', change = change + 1
    where ended_at is null and attempt_id <> '';
alter table attempts drop column published_at;
drop table leases;
