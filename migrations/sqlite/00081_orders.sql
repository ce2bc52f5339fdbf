-- +goose Up
-- What is measured again is one table: confirmations keep their numbers, rejudges get the next ones.
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
insert into orders (id, purpose, version_id, device, challenger_id, holder_id, one_unit, reason, again, created_at, ended_at)
    select id, 'confirm', version_id, device, challenger_id, holder_id, one_unit, outcome, again, created_at, ended_at from confirmations;
alter table runs add column order_id integer; -- the order that it is for
update runs set order_id = coalesce(confirmation_id, rejudge_id + (select coalesce(max(id), 0) from confirmations))
    where confirmation_id is not null or rejudge_id is not null;
insert into orders (id, purpose, version_id, device, epoch_id, created_by, reason, created_at, ended_at, applied_at, cancelled)
    select id + (select coalesce(max(id), 0) from confirmations), 'remeasure', version_id, device, epoch_id, created_by, reason, created_at, ended_at, applied_at, cancelled from rejudges;
create unique index orders_confirming on orders (version_id, device) where purpose = 'confirm' and ended_at is null;
create unique index orders_open on orders (version_id) where purpose = 'remeasure' and applied_at is null and not cancelled;
create index orders_challenger on orders (challenger_id);
create index orders_holder on orders (holder_id);
create index orders_device on orders (device, id) where epoch_id <> 0;
drop index runs_legs;
drop index runs_rejudges;
alter table runs drop column confirmation_id;
alter table runs drop column rejudge_id;
create index runs_orders on runs (order_id) where order_id is not null;
drop table confirmations;
drop table rejudges;
-- Events about a new place wait because of the order, and not under another name.
update webhook_events set kind = 'place.taken' where kind = 'place.held';
update webhook_events set kind = 'record.taken' where kind = 'record.held';
-- No program reads the chain of statements any more.
drop table statements;
