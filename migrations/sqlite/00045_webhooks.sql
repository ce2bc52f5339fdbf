-- +goose Up
-- Addresses of other programs that are told of events. user_id 0: the site's own, of its admins. The secret is kept as it is,
-- because every delivery is signed with it.
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
-- What happened and was not yet made into deliveries: written in the transaction in which it happened. webhook_id 0: for all
-- webhooks that want it.
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
