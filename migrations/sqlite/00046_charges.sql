-- +goose Up
-- For how many nanoseconds a person's work held units of GPUs on a day (UTC), times their number. It stays when the work is deleted.
create table charges (
    user_id integer not null references users (id) on delete cascade,
    day text not null,
    unit_ns integer not null,
    primary key (user_id, day)
);
create index charges_day on charges (day);
-- Today's, as they were counted before; of what a worker claimed no more than 64 units for a day.
insert into charges (user_id, day, unit_ns)
select user_id, date('now'), sum(min(unit_ns, 5529600000000000)) from (
    select user_id, unit_ns from runs where unit_ns > 0 and ended_at >= date('now') and device <> 'CPU'
        and state in ('done', 'failed') and not ours and profile_of is null and mode <> 'baseline'
    union all
    select user_id, unit_ns from evaluations where unit_ns > 0 and ended_at >= date('now') and device <> 'CPU' and state <> 'cancelled'
) as charged where user_id in (select id from users) group by user_id;
