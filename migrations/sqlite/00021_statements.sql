-- +goose Up
-- What the site states of each result, as it was stated: each holds the hash of the one before it. Nothing refers to
-- runs, which may be deleted; the chain stays whole.
create table statements (
    number integer primary key,
    run_id integer not null,
    hash text not null,
    payload text not null
);
create index statements_run on statements (run_id);

-- The public keys that statements were signed with, so that older signatures stay valid.
create table signing_keys (
    id text primary key,
    public_key text not null,
    created_at datetime not null
);
