-- +goose Up
-- Why a run waits for somebody to look before it counts: its score is below the floor of its unit, or above its roof.
-- Empty: it counts, or somebody has looked.
alter table runs add column held_why text not null default '';
-- How near the score is to what the unit can do at best, from 0 to 1; null where the task does not say what a call
-- takes, or the unit was not gauged.
alter table runs add column roof double precision;
alter table entries add column roof double precision;
drop index runs_valid;
create index runs_valid on runs (version_id, device, user_id, epoch_id desc, score_ns, id)
    where mode = 'ranked' and state = 'done' and score_ns is not null and disqualified_at is null and profile_of is null and held_why = '';

-- An interval is made of times that a clock can show, as the score is.
update runs set interval_low = null, interval_high = null where (interval_low is not null or interval_high is not null)
    and not coalesce(interval_low >= 1 and interval_high >= interval_low and interval_high < 'infinity', false);
alter table runs add constraint runs_interval
    check ((interval_low is null and interval_high is null
            or coalesce(interval_low >= 1 and interval_high >= interval_low and interval_high < 'infinity', false))
        and (roof is null or roof > 0 and roof < 'infinity'));
alter table entries add constraint entries_score check (score_ns >= 1 and score_ns < 'infinity');
