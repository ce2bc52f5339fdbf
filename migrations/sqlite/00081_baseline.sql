-- +goose Up
-- The schema. Later files change it; this one is never changed. A database of version 81, which the files that it replaced
-- made, has it already.

-- People.

create table users (
    id integer primary key autoincrement,
    name text not null,
    name_key text not null unique,
    email text not null default '',
    role text not null,
    blocked_at datetime,
    created_at datetime not null,
    updated_at datetime not null,
    no_dataset boolean not null default false,
    inbox_read integer not null default 0
);

create table identities (
    id integer primary key autoincrement,
    user_id integer not null references users (id) on delete cascade,
    provider text not null,
    subject text not null,
    email text not null default '',
    name text not null default '',
    created_at datetime not null,
    used_at datetime not null,
    unique (provider, subject)
);
create index identities_user on identities (user_id);

create table sessions (
    id integer primary key autoincrement,
    user_id integer not null references users (id) on delete cascade,
    secret_hash text not null unique,
    provider text not null default '',
    user_agent text not null default '',
    address text not null default '',
    created_at datetime not null,
    seen_at datetime not null,
    expires_at datetime not null
);
create index sessions_user on sessions (user_id);

create table tokens (
    id integer primary key autoincrement,
    user_id integer not null references users (id) on delete cascade,
    name text not null,
    prefix text not null,
    secret_hash text not null unique,
    created_at datetime not null,
    used_at datetime,
    expires_at datetime,
    revoked_at datetime
);
create index tokens_user on tokens (user_id);

-- Command lines that ask to be signed in, until a person has said yes or no in a browser. The token is made when the command asks
-- for it, so that its secret is never here.
create table logins (
    id integer primary key autoincrement,
    secret_hash text not null unique, -- of what the command asks with
    code text not null unique, -- what a person compares or types
    host text not null, -- as the command calls its machine
    address text not null,
    created_at datetime not null,
    expires_at datetime not null,
    user_id integer references users (id) on delete cascade, -- who said yes
    refused boolean not null default false
);
create index logins_expiry on logins (expires_at);

-- People who share a budget of GPU-seconds a day; seconds 0 is no limit. A person is in at most one team.
create table teams (
    id integer primary key autoincrement,
    name text not null,
    name_key text not null unique,
    seconds integer not null default 0
);

create table team_members (
    user_id integer primary key references users (id) on delete cascade,
    team_id integer not null references teams (id) on delete cascade
);
create index team_members_team on team_members (team_id);

-- For how many nanoseconds a person's work held units of GPUs on a day (UTC), times their number. It stays when the work is deleted.
create table charges (
    user_id integer not null references users (id) on delete cascade,
    day text not null,
    unit_ns integer not null,
    primary key (user_id, day)
);
create index charges_day on charges (day);

create table audits (
    id integer primary key autoincrement,
    actor_id integer not null,
    actor_name text not null,
    act text not null,
    subject text not null,
    detail text not null default '',
    created_at datetime not null
);

-- The log is read by subject (the history of a run), and counted by actor (limits).
create index audits_subject on audits (subject, id);
create index audits_actor on audits (actor_id, created_at);

create table settings (
    key text primary key,
    value text not null
);

-- Tasks.

create table blobs (
    hash text primary key,
    size integer not null,
    data blob not null,
    created_at datetime not null
);

create table tasks (
    id integer primary key autoincrement,
    slug text not null unique,
    title text not null,
    owner_id integer not null references users (id),
    devices text,
    deadline datetime,
    visibility text not null,
    origin text not null default '',
    version_id integer not null default 0,
    created_at datetime not null,
    updated_at datetime not null,
    asked text, -- names that it was given for its devices: "H100" stands for all silicon of that family, also later ones
    practice boolean not null default false,
    limits text not null default '[]', -- of what one person may submit, in JSON
    comments integer not null default 0,
    comments_locked boolean not null default false,
    reminded_of datetime, -- the deadline of which people were reminded
    opens_at datetime
);

create table task_versions (
    id integer primary key autoincrement,
    task_id integer not null references tasks (id) on delete cascade,
    number integer not null,
    key text not null,
    lang text not null,
    definition text not null,
    warnings text,
    created_by integer not null,
    created_at datetime not null,
    tags text, -- of the definition, so that a list of tasks does not read definitions
    problem text not null default '', -- of the definition, so that a list of tasks does not read definitions
    unique (task_id, number)
);

create table version_files (
    version_id integer not null references task_versions (id) on delete cascade,
    path text not null,
    hash text not null references blobs (hash),
    primary key (version_id, path)
);
create index version_files_hash on version_files (hash);

-- Work: submissions with their runs, and evaluations. Runs and evaluations are two kinds of one thing: work that waits, is given to
-- an attempt, and ends. They have the same columns for that. Work that has not ended is what has no ended_at.

create table submissions (
    id integer primary key autoincrement,
    user_id integer not null references users (id),
    task_id integer not null references tasks (id) on delete cascade,
    version_id integer not null references task_versions (id) on delete cascade,
    mode text not null,
    file_name text not null,
    source_hash text not null references blobs (hash),
    via text not null default '',
    created_at datetime not null,
    request_key text, -- a submission that is sent again with the same key, because its answer was lost, is the same one
    source_key text not null default '', -- hash of the source without blanks that end a line and lines that are blank
    added_why text not null default '', -- empty: its person submitted it
    frozen_event integer not null default 0, -- 0: none
    comments integer not null default 0,
    comments_locked boolean not null default false,
    profile_filter text
);
create index submissions_user on submissions (user_id, id);
create index submissions_task on submissions (task_id, user_id, id);
create index submissions_version on submissions (version_id);
create index submissions_source on submissions (source_hash);
create unique index submissions_request on submissions (user_id, request_key) where request_key is not null;
create index submissions_key on submissions (version_id, source_key);
create index submissions_frozen on submissions (frozen_event) where frozen_event <> 0;
create index submissions_days on submissions (user_id, created_at, task_id, frozen_event);

create table runs (
    id integer primary key autoincrement,
    submission_id integer not null references submissions (id) on delete cascade,
    version_id integer not null references task_versions (id) on delete cascade,
    user_id integer not null references users (id),
    device text not null,
    mode text not null,
    state text not null,
    attempts integer not null default 0,
    losses integer not null default 0, -- lost attempts that the work itself may have brought down
    attempt_id text not null default '',
    worker text not null default '',
    queued_at datetime not null,
    dispatched_at datetime,
    started_at datetime,
    ended_at datetime,
    failure text,
    ours boolean not null default false,
    score_ns real,
    std_ns real not null default 0,
    err_ns real not null default 0,
    harness text not null default '',
    machine text,
    wall_ns integer not null default 0,
    program_ns integer not null default 0,
    disqualified_at datetime,
    disqualified_why text not null default '',
    profile_of integer references runs (id) on delete cascade, -- the ranked run that it follows: as its profile or validation, or for an order
    retries integer not null default 0, -- all lost attempts
    not_before datetime, -- after each loss the next attempt waits, longer every time
    clock text not null default '', -- by which of the judge's clocks the score counts: "event", "wall", "event+wall"; empty: no judge took the time
    interval_low real, -- the 95 % interval of the score, in nanoseconds; null: the score has none
    interval_high real,
    processes integer not null default 0, -- fresh processes of the submission that the interval is made of
    noisy boolean not null default false, -- the processes differed too much for the interval to become as narrow as it should be
    disqualified_by integer not null default 0, -- 0: the site, or unknown
    reinstated_why text not null default '',
    epoch_id integer not null default 0,
    held_why text not null default '', -- why it does not stand on its board (models/hold.go)
    roof real, -- how near the score is to what the unit can do at best, from 0 to 1; null: unknown
    error_ulp real, -- how far its answers are from the task's reference in double precision, the worst of its tests, in units of the last place
    error_relative real, -- the same over the reference's size; both null: the task has no such reference
    pool_id integer, -- run that stands for this one and others of equal source; null: none
    pooled integer not null default 0, -- runs that the score is made of; 0: one, or those of a confirmation
    disturbed text not null default '', -- why the conditions under which the score was measured were bad; empty: they were good, or unknown
    note text not null default '', -- what the author of a record says of it, in a sentence
    scored_at datetime, -- when the score became what it is: when the run ended, or the newest of the runs that it is made of
    unit_ns integer not null default 0, -- for how many nanoseconds it held units of its device, times their number, once it has ended
    overdue boolean not null default false, -- a leg of a confirmation that has waited for so long that it no longer gives way to people's work
    stopped_by_staff boolean not null default false, -- it was cancelled, and not by its person, who chose nothing by it
    memory_peak integer, -- bytes that a ranked run's programs had at most, on a CPU; null: not measured
    was_ns real, -- the score before confirmations; null: it comes from none
    purpose text not null default 'submitted', -- why it is made: models/work/purpose.go
    contradicted boolean not null default false,
    order_id integer -- the order that it is for
);
create unique index runs_once on runs (submission_id, device) where profile_of is null;
create index runs_live on runs (device, user_id, queued_at, id) where ended_at is null;
create index runs_disqualified on runs (submission_id) where disqualified_at is not null;
create unique index runs_profile_of on runs (profile_of) where profile_of is not null and mode = 'profile';
create index runs_pools on runs (version_id, device, user_id, pool_id) where pool_id is not null;

-- What the devices did in the last day is read of all runs.
create index runs_ended on runs (ended_at);
create index runs_charged on runs (user_id, ended_at) where unit_ns > 0;
create index runs_valid on runs (version_id, device, user_id, epoch_id desc, score_ns, id)
    where mode = 'ranked' and state = 'done' and score_ns is not null and disqualified_at is null and purpose = 'submitted' and held_why = '';
create index runs_last_end on runs (device, user_id,
    (case when purpose in ('submitted', 'practice') or overdue then 1 when purpose = 'baseline' then 3 when purpose = 'remeasure' then 4 else 2 end), ended_at)
    where ended_at is not null and dispatched_at is not null and purpose <> 'confirm';
create index runs_orders on runs (order_id) where order_id is not null;

-- A score is a time that a clock can show: finite, and 1 ns or more. The constraints are triggers, because SQLite adds no check to a
-- table that is there. 9e999 is infinity.
create trigger runs_score_insert before insert on runs
when not (coalesce(new.score_ns, 1) >= 1 and coalesce(new.score_ns, 1) < 9e999 and new.std_ns >= 0 and new.std_ns < 9e999 and new.err_ns >= 0 and new.err_ns < 9e999)
begin
    select raise(abort, 'constraint runs_score: a score is finite and 1 ns or more');
end;
create trigger runs_score_update before update of score_ns, std_ns, err_ns on runs
when not (coalesce(new.score_ns, 1) >= 1 and coalesce(new.score_ns, 1) < 9e999 and new.std_ns >= 0 and new.std_ns < 9e999 and new.err_ns >= 0 and new.err_ns < 9e999)
begin
    select raise(abort, 'constraint runs_score: a score is finite and 1 ns or more');
end;

-- An interval is made of such times, too. A run has none when it is inserted.
create trigger runs_interval_update before update of interval_low, interval_high, roof on runs
when not ((new.interval_low is null and new.interval_high is null
    or coalesce(new.interval_low >= 1 and new.interval_high >= new.interval_low and new.interval_high < 9e999, 0))
    and coalesce(new.roof > 0 and new.roof < 9e999, new.roof is null))
begin
    select raise(abort, 'constraint runs_interval: an interval is of times that a clock can show');
end;

create table evaluations (
    id text primary key,
    user_id integer not null default 0,
    caller text not null,
    kind text not null,
    device text not null,
    request text not null,
    source_hash text not null,
    state text not null,
    change integer not null default 1,
    attempt_id text not null default '',
    losses integer not null default 0,
    worker text not null default '',
    queued_at datetime not null,
    dispatched_at datetime,
    started_at datetime,
    ended_at datetime,
    failure text not null default '',
    result text,
    retries integer not null default 0,
    not_before datetime,
    owner text not null default '', -- who may see it: a caller without a token or a session is an address, which many share, and owns by its key
    shared boolean not null default false,
    attempts integer not null default 0,
    unit_ns integer not null default 0,
    request_bytes bigint not null default 0, -- size of the request, up to 12 MiB; that of a cancelled evaluation is dropped
    batch text not null default '', -- empty: it was sent alone
    batch_index integer not null default 0, -- of its request in the batch, from 0
    batch_result integer not null default 0, -- its place among the results, in the order of ends, from 1; 0: it has not ended
    parked integer not null default 0, -- 1: one of a batch that is not in the queue yet, because its caller has enough there
    request_key text not null default '',
    request_hash text not null default '', -- of what is measured
    shares text not null default '' -- the evaluation whose result it has
);
create index evaluations_user on evaluations (user_id, queued_at);
create index evaluations_ended on evaluations (ended_at);
create index evaluations_attempt on evaluations (attempt_id);
create index evaluations_owner on evaluations (owner, queued_at);
create index evaluations_live on evaluations (device, caller, queued_at, id) where ended_at is null;
create index evaluations_charged on evaluations (user_id, ended_at) where unit_ns > 0;

-- What a caller has stored in the last hour, and in all, lies in an index.
create index evaluations_caller on evaluations (caller, queued_at, request_bytes);
create index evaluations_queued on evaluations (device, caller, queued_at, id) where ended_at is null and parked = 0;
create index evaluations_batch on evaluations (batch, batch_result) where batch <> '';
create index evaluations_request on evaluations (request_key, batch_index) where request_key <> '';
create index evaluations_same on evaluations (request_hash, device) where request_hash <> '';
create index evaluations_sharing on evaluations (shares) where shares <> '';
create index evaluations_last_end on evaluations (device, caller, (case when batch = '' then 0 else 1 end), ended_at)
    where ended_at is not null and dispatched_at is not null;

create table attempts (
    id text primary key,
    run_id integer references runs (id) on delete cascade,
    evaluation_id text references evaluations (id) on delete cascade,
    number integer not null,
    secret text not null,
    seed integer not null,
    worker text not null default '',
    created_at datetime not null,
    taken_at datetime,
    ended_at datetime,
    outcome text not null default '',
    last_seq integer not null default 0,
    log_bytes integer not null default 0,
    draw_epoch_id integer, -- whose draw its job had; null: none
    check ((run_id is null) <> (evaluation_id is null))
);
create index attempts_run on attempts (run_id) where run_id is not null;
create index attempts_evaluation on attempts (evaluation_id) where evaluation_id is not null;

create table stages (
    id integer primary key autoincrement,
    run_id integer not null references runs (id) on delete cascade,
    attempt_id text not null,
    position integer not null,
    stage text not null,
    status text not null,
    result text not null,
    unique (attempt_id, position)
);
create index stages_run on stages (run_id);

create table run_events (
    id integer primary key autoincrement,
    submission_id integer not null,
    run_id integer not null references runs (id) on delete cascade,
    device text not null,
    attempt_id text not null default '',
    seq integer not null default 0,
    type text not null,
    state text not null,
    event text,
    failure text,
    score_ns real,
    created_at datetime not null
);
create unique index run_events_once on run_events (attempt_id, seq) where seq > 0;
create index run_events_submission on run_events (submission_id, id);
create index run_events_run on run_events (run_id);
create index run_events_time on run_events (created_at);

create table artifacts (
    id integer primary key autoincrement,
    run_id integer not null references runs (id) on delete cascade,
    name text not null,
    type text not null,
    size integer not null,
    hash text not null,
    created_at datetime not null,
    unique (run_id, name)
);
create index artifacts_hash on artifacts (hash);

-- Runs whose clocks differ by more than the tolerance, with the case in which they differ most.
create table clock_differences (
    run_id integer primary key references runs (id) on delete cascade,
    stage text not null,
    spec text not null,
    cases integer not null,
    clock text not null,
    event_ns real not null,
    wall_ns real not null,
    snapshot_ns real not null,
    tolerance_ns real not null
);

-- What asks for a look at a run: a report, clocks that disagree, patterns in its source. A flag is closed after that look; it never
-- takes a run off a board.
create table flags (
    id integer primary key autoincrement,
    run_id integer not null references runs (id) on delete cascade,
    kind text not null,
    user_id integer not null default 0, -- who reported it; 0: the site
    detail text not null default '',
    created_at datetime not null,
    closed_at datetime,
    closed_by integer not null default 0,
    outcome text not null default ''
);
create unique index flags_open on flags (run_id, kind, user_id) where closed_at is null;
create index flags_waiting on flags (id) where closed_at is null;
create index flags_run on flags (run_id);
create index flags_person on flags (user_id, created_at);

-- Boards. Entries, boards, records, bests and bands are projections of runs: Boards.RebuildEntries makes all five of them.

create table entries (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    user_id integer not null references users (id),
    run_id integer not null,
    submission_id integer not null,
    score_ns real not null,
    std_ns real not null,
    err_ns real not null,
    achieved_at datetime not null,
    clock text not null default '',
    interval_low real,
    interval_high real,
    processes integer not null default 0,
    noisy boolean not null default false,
    age integer not null default 0,
    roof real,
    pooled integer not null default 0,
    disturbed text not null default '',
    primary key (version_id, device, user_id)
);
create index entries_run on entries (run_id);
create index entries_order on entries (version_id, device, age, score_ns, run_id);
create index entries_person on entries (user_id, version_id, device, age, score_ns, run_id);
create trigger entries_score_insert before insert on entries when not (new.score_ns >= 1 and new.score_ns < 9e999)
begin
    select raise(abort, 'constraint entries_score: a score is finite and 1 ns or more');
end;
create trigger entries_score_update before update of score_ns on entries when not (new.score_ns >= 1 and new.score_ns < 9e999)
begin
    select raise(abort, 'constraint entries_score: a score is finite and 1 ns or more');
end;

create table boards (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    change integer not null,
    size integer not null,
    leaders text,
    changed_at datetime not null,
    confirming integer not null default 0, -- run that waits for its confirmation
    epoch_id integer not null default 0,
    steps text, -- scores of the last records, the oldest first, so that a list of tasks reads one row per board
    primary key (version_id, device)
);

create table records (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    run_id integer not null,
    user_id integer not null references users (id),
    submission_id integer not null,
    score_ns real not null,
    achieved_at datetime not null,
    age integer not null default 0,
    primary key (version_id, device, run_id)
);
create index records_latest on records (achieved_at, run_id);

-- Each run that was its person's best on a board when it ended.
create table bests (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    user_id integer not null references users (id),
    run_id integer not null,
    submission_id integer not null,
    age integer not null, -- as an entry's: each epoch has bests of its own
    score_ns real not null,
    tries integer not null, -- valid runs of the person up to this one
    achieved_at datetime not null,
    primary key (version_id, device, user_id, run_id)
);

-- What a person's best was at a time, on one board: each row of a board's page asks it.
create index bests_line on bests (version_id, device, user_id, age, achieved_at, score_ns);
create index bests_steps on bests (user_id, version_id, device, achieved_at, run_id, score_ns);

-- The bests of a board in the order of their scores: the points of a season are made of the first of them.
create index bests_order on bests (version_id, device, age, score_ns, run_id, achieved_at, user_id);

-- Entries of a board whose difference the data do not show share a band, and so a rank.
create table bands (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    run_id integer not null, -- of its first entry
    score_ns real not null, -- of its first entry
    ahead integer not null, -- entries before it
    size integer not null,
    age integer not null default 0,
    primary key (version_id, device, run_id)
);
create index bands_ahead on bands (version_id, device, ahead);
create index bands_order on bands (version_id, device, age, score_ns, run_id);

-- The band of each board that has its last place with points, which tells quickly where a person can have points.
create index bands_last on bands (version_id, device, age, score_ns) where ahead < 20 and ahead + size >= 20;

-- Runs of the site itself, to compare with: of each version and device the current one of each name. Their mode is "baseline", so
-- that none of them is an entry.
create table baselines (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    name text not null,
    run_id integer not null references runs (id) on delete cascade,
    source_hash text not null,
    primary key (version_id, device, name)
);
create index baselines_run on baselines (run_id);

-- Devices, and the software on them.

-- A device is a kind of silicon: model, form factor and memory. These are the ones that workers have been seen with.
create table devices (
    label text primary key,
    name text not null, -- as its driver has it
    memory integer not null, -- bytes
    seen_at datetime not null
);

-- The software under a measurement. A later one has a larger id; 0 is that of runs from before this was kept. Boards show the newest
-- epoch first: age is minus its id, so that rows of one epoch lie together in the order of the board.
create table epochs (
    id integer primary key autoincrement,
    driver text not null,
    cuda text not null,
    compiler text not null,
    torch text not null,
    triton text not null,
    harness text not null,
    seen_at datetime not null,
    unique (driver, cuda, compiler, torch, triton, harness)
);

-- Which epochs a device has had, for each kind of language.
create table device_epochs (
    device text not null,
    kind text not null, -- "native", "python"
    epoch_id integer not null references epochs (id),
    seen_at datetime not null,
    primary key (device, kind, epoch_id)
);

-- The public keys that statements were signed with, so that older signatures stay valid.
create table signing_keys (
    id text primary key,
    public_key text not null,
    created_at datetime not null
);

-- Workers.

create table workers (
    name text primary key,
    version text not null default '',
    started_at datetime not null,
    seen_at datetime not null,
    slots text,
    attempts text,
    self_test text,
    refusing text not null default '',
    stopping boolean not null default false,
    guest boolean not null default false, -- it joined by a token, and is forgotten after it has left
    behind_ms integer not null default 0 -- by how much its clock is behind the site's, as the site saw at its last heartbeat: the message's way included
);

create table worker_credentials (
    id integer primary key autoincrement,
    name text not null unique,
    secret_hash text not null,
    devices text,
    created_by integer not null,
    created_at datetime not null,
    used_at datetime,
    revoked_at datetime,
    join_id integer not null default 0 -- join token that its worker joined by; 0: an admin made the credential
);

-- Lets workers without credentials make their own: for some devices, so many at once, until a time.
create table join_tokens (
    id integer primary key autoincrement,
    name text not null,
    secret_hash text not null unique,
    devices text not null,
    most integer not null,
    created_by integer not null,
    created_at datetime not null,
    expires_at datetime not null,
    revoked_at datetime
);

-- What the same two kernels took on a unit, again and again: it shows when the unit is not what it was.
create table sentinels (
    worker text not null,
    unit text not null, -- hash of its UUID
    at datetime not null, -- by the worker's clock
    device text not null,
    read_ns real not null,
    math_ns real not null,
    primary key (worker, unit, at)
);
create index sentinels_device on sentinels (device, at);

-- Webhooks.

-- Addresses of other programs that are told of events. user_id 0: the site's own, of its admins. The secret is kept as it is, because
-- every delivery is signed with it.
create table webhooks (
    id integer primary key autoincrement,
    user_id integer not null,
    url text not null,
    events text not null,
    wait_seconds integer not null,
    secret text not null,
    failures integer not null default 0,
    created_at datetime not null,
    disabled_at datetime,
    disabled_why text not null default ''
);

-- What happened and was not yet made into deliveries: written in the transaction in which it happened. webhook_id 0: for all webhooks
-- that want it.
create table webhook_events (
    id integer primary key autoincrement,
    kind text not null,
    webhook_id integer not null,
    run_id integer not null,
    user_id integer not null,
    other_id integer not null,
    detail text,
    created_at datetime not null
);

-- One message to one webhook, and how sending it went. next_at null: it is over.
create table webhook_deliveries (
    id integer primary key autoincrement,
    webhook_id integer not null references webhooks (id) on delete cascade,
    message_id text not null,
    kind text not null,
    body text not null,
    tries integer not null default 0,
    status integer not null default 0,
    error text not null default '',
    took_ms integer not null default 0,
    created_at datetime not null,
    next_at datetime,
    tried_at datetime,
    delivered_at datetime
);
create index webhook_deliveries_due on webhook_deliveries (next_at) where next_at is not null;
create index webhook_deliveries_hook on webhook_deliveries (webhook_id, id);

-- Numbers of the site.

create table counters (
    name text primary key,
    count integer not null,
    total real not null,
    least real not null,
    most real not null
);

-- What people submitted to tasks in the last day. It outlives the submissions: deleting one gives nothing back.
create table uses (
    submission_id integer primary key,
    user_id integer not null references users (id) on delete cascade,
    task_id integer not null references tasks (id) on delete cascade,
    mode text not null,
    created_at datetime not null,
    held_ns integer not null default 0
);
create index uses_person on uses (user_id, task_id, created_at);
create index uses_task on uses (task_id);
create index uses_old on uses (created_at);

-- Tasks that only those see who joined them, and the codes by which people join.
create table invites (
    id integer primary key autoincrement,
    task_id integer not null references tasks (id) on delete cascade,
    note text not null default '',
    prefix text not null,
    secret_hash text not null unique,
    most integer not null default 0, -- people that it lets in; 0: no limit
    used integer not null default 0,
    created_by integer not null,
    created_at datetime not null,
    expires_at datetime,
    revoked_at datetime
);
create index invites_task on invites (task_id);

-- Who is removed keeps the row: an older code does not let them in again.
create table members (
    task_id integer not null references tasks (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    invite_id integer not null references invites (id) on delete cascade,
    joined_at datetime not null,
    removed_at datetime,
    barred_at datetime,
    primary key (task_id, user_id)
);
create index members_user on members (user_id);
create index members_invite on members (invite_id);

-- An event is several tasks with one start, one end, and standings over all their boards.
create table events (
    id integer primary key autoincrement,
    slug text not null unique,
    title text not null,
    owner_id integer not null references users (id),
    about text not null default '', -- Markdown
    starts_at datetime not null,
    ends_at datetime not null,
    frozen_at datetime, -- null: never
    revealed_at datetime, -- null: not yet
    points text not null,
    by_team boolean not null default false,
    created_at datetime not null,
    comments_closed boolean not null default false -- from its start to its end
);

create table event_tasks (
    event_id integer not null references events (id) on delete cascade,
    task_id integer not null references tasks (id) on delete cascade,
    position integer not null default 0,
    primary key (event_id, task_id)
);
create index event_tasks_task on event_tasks (task_id);

-- One flat list of comments for each task, and for each submission whose source everyone may read.
create table comments (
    id integer primary key autoincrement,
    task_id integer not null references tasks (id) on delete cascade,
    submission_id integer references submissions (id) on delete cascade, -- null: about the task itself
    user_id integer not null references users (id) on delete cascade,
    writeup boolean not null default false, -- the author's text on top
    body text not null, -- Markdown; empty: removed
    created_at datetime not null,
    edited_at datetime,
    hidden_at datetime,
    hidden_by integer not null default 0,
    hidden_why text not null default '',
    removed_at datetime -- by the person who wrote it; the row still counts against limits
);
create index comments_task on comments (task_id, id) where submission_id is null;
create index comments_submission on comments (submission_id, id) where submission_id is not null;
create index comments_person on comments (user_id, created_at);
create unique index comments_task_writeup on comments (task_id) where writeup and submission_id is null and removed_at is null;
create unique index comments_submission_writeup on comments (submission_id) where writeup and removed_at is null;

create table comment_reports (
    id integer primary key autoincrement,
    comment_id integer not null references comments (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    reason text not null,
    created_at datetime not null,
    closed_at datetime,
    closed_by integer not null default 0,
    outcome text not null default ''
);
create unique index comment_reports_open on comment_reports (comment_id, user_id) where closed_at is null;
create index comment_reports_person on comment_reports (user_id, created_at);

-- What people are told in their inbox. A person has read all up to users.inbox_read.
create table notices (
    id integer primary key autoincrement,
    user_id integer not null references users (id) on delete cascade,
    kind text not null,
    task_id integer not null references tasks (id) on delete cascade,
    submission_id integer references submissions (id) on delete cascade,
    comment_id integer references comments (id) on delete cascade,
    actor_id integer not null default 0, -- who did it; 0: the site
    device text not null default '',
    state text not null default '', -- of a run that ended
    created_at datetime not null
);
create index notices_person on notices (user_id, id);
create index notices_task on notices (task_id);
create index notices_submission on notices (submission_id) where submission_id is not null;
create index notices_comment on notices (comment_id) where comment_id is not null;

-- What a person chose; without a row: all kinds are on.
create table inbox_choices (
    user_id integer primary key references users (id) on delete cascade,
    off_kinds text not null default '[]', -- JSON: kinds that are off
    mail_kinds text not null default '[]', -- JSON
    address text not null default '', -- confirmed; empty: that of the sign-in
    new_address text not null default '', -- to be confirmed
    code_hash text not null default '',
    code_until datetime
);

-- One e-mail. next_at null: it is over.
create table mails (
    id integer primary key autoincrement,
    user_id integer not null references users (id) on delete cascade,
    kind text not null, -- of its notice; confirm: it asks whether the address is right
    address text not null,
    subject text not null,
    body text not null,
    tries integer not null default 0,
    error text not null default '',
    created_at datetime not null,
    next_at datetime,
    sent_at datetime
);
create index mails_due on mails (next_at) where next_at is not null;
create index mails_person on mails (user_id, created_at);
create index mails_confirm on mails (created_at) where kind = 'confirm';

-- From which seed the values of a version's cases are drawn on a device, for all runs of one epoch.
create table draws (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    epoch_id integer not null, -- 0: software that is not known
    seed text not null, -- secret while the epoch is the board's newest
    created_at datetime not null,
    primary key (version_id, device, epoch_id)
);

-- What the validation script of a task said of an entry's run.
create table validations (
    run_id integer primary key references runs (id) on delete cascade,
    by_run integer not null, -- in which the script runs
    script_version text not null,
    asked_by integer not null references users (id),
    asked_at datetime not null,
    answer text not null default '', -- empty: it waits
    message text not null default '',
    ended_at datetime
);
create index validations_by_run on validations (by_run);

-- What ranked runs measured, also those that are on no board, and those that the site made for an order.
-- Scores are made of it (package samples).
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
    created_at datetime not null,
    run_id integer not null default 0 -- 0: unknown
);
create unique index holds_source on holds (version_id, device, user_id, source_key);

-- What is measured again: the 1st place of a board, all entries after new software, or those of a task on request.
create table orders (
    id integer primary key autoincrement,
    purpose text not null, -- of its runs: 'confirm', 'remeasure'
    version_id integer references task_versions (id) on delete cascade, -- null: new software, of all tasks
    device text not null default '', -- empty: all of the version
    epoch_id integer not null default 0, -- the new software
    challenger_id integer references runs (id) on delete cascade, -- run that 'confirm' measures in turns with
    holder_id integer references runs (id) on delete cascade, -- this one
    one_unit boolean not null default false, -- the runs that count ran on one slot
    created_by integer not null default 0, -- 0: the site
    reason text not null default '', -- why it was made; of 'confirm', why it ended without numbers of the holder or of both
    again boolean not null default false, -- 'confirm' may begin again
    created_at datetime not null,
    ended_at datetime, -- nothing of it waits to be measured
    applied_at datetime, -- a person let its numbers count
    cancelled boolean not null default false
);
create unique index orders_confirming on orders (version_id, device) where purpose = 'confirm' and ended_at is null;
create unique index orders_open on orders (version_id) where purpose = 'remeasure' and applied_at is null and not cancelled;
create index orders_challenger on orders (challenger_id);
create index orders_holder on orders (holder_id);
create index orders_device on orders (device, id) where epoch_id <> 0;
