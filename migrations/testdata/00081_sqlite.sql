-- What the last program with the migrations that the baseline replaced (version 81)
-- left of a small site in the middle of its work: .dump of the sqlite3 shell.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO goose_db_version VALUES(1,0,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(2,1,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(3,2,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(4,3,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(5,4,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(6,5,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(7,6,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(8,7,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(9,8,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(10,10,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(11,11,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(12,12,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(13,13,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(14,14,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(15,15,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(16,16,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(17,17,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(18,18,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(19,19,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(20,21,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(21,22,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(22,23,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(23,24,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(24,25,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(25,28,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(26,30,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(27,31,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(28,32,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(29,33,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(30,35,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(31,36,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(32,37,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(33,38,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(34,39,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(35,40,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(36,41,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(37,42,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(38,43,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(39,44,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(40,45,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(41,46,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(42,47,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(43,48,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(44,49,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(45,50,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(46,51,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(47,52,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(48,53,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(49,54,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(50,55,1,'2026-11-24 20:54:20');
INSERT INTO goose_db_version VALUES(51,56,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(52,57,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(53,58,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(54,59,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(55,60,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(56,61,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(57,62,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(58,63,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(59,64,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(60,65,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(61,66,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(62,67,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(63,68,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(64,69,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(65,70,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(66,71,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(67,72,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(68,73,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(69,74,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(70,75,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(71,76,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(72,77,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(73,78,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(74,79,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(75,80,1,'2026-11-28 09:00:00');
INSERT INTO goose_db_version VALUES(76,81,1,'2026-11-28 09:00:00');
CREATE TABLE users (
    id integer primary key autoincrement,
    name text not null,
    name_key text not null unique,
    email text not null default '',
    role text not null,
    blocked_at datetime,
    created_at datetime not null,
    updated_at datetime not null
, no_dataset boolean not null default false, inbox_read integer not null default 0);
INSERT INTO users VALUES(1,'Root','root','','admin',NULL,'2026-11-24 20:54:20.319128+00:00','2026-11-24 20:54:20.319129+00:00',0,0);
INSERT INTO users VALUES(2,'Ann','ann','','user',NULL,'2026-11-24 20:54:20.319708+00:00','2026-11-24 20:54:20.319708+00:00',0,0);
INSERT INTO users VALUES(3,'Ben','ben','','user',NULL,'2026-11-24 20:54:20.32014+00:00','2026-11-24 20:54:20.32014+00:00',0,0);
INSERT INTO users VALUES(4,'Cora','cora','','creator',NULL,'2026-11-24 20:54:20.320518+00:00','2026-11-24 20:54:20.320847+00:00',0,0);
CREATE TABLE identities (
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
INSERT INTO identities VALUES(1,1,'test','Root','','Root','2026-11-24 20:54:20.319385+00:00','2026-11-24 20:54:20.319385+00:00');
INSERT INTO identities VALUES(2,2,'test','Ann','','Ann','2026-11-24 20:54:20.31989+00:00','2026-11-24 20:54:20.31989+00:00');
INSERT INTO identities VALUES(3,3,'test','Ben','','Ben','2026-11-24 20:54:20.320272+00:00','2026-11-24 20:54:20.320272+00:00');
INSERT INTO identities VALUES(4,4,'test','Cora','','Cora','2026-11-24 20:54:20.320636+00:00','2026-11-24 20:54:20.320636+00:00');
CREATE TABLE sessions (
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
CREATE TABLE tokens (
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
INSERT INTO tokens VALUES(1,2,'laptop','wb_vbKmgi','c5c784ae854fe2cd07cb1d4fb65aa4d9aeda05a3fd68ebb045b90135940e11c8','2026-11-24 20:54:20.324545+00:00',NULL,NULL,NULL);
CREATE TABLE audits (
    id integer primary key autoincrement,
    actor_id integer not null,
    actor_name text not null,
    act text not null,
    subject text not null,
    detail text not null default '',
    created_at datetime not null
);
INSERT INTO audits VALUES(1,-1,'test','set role','user 4','creator','2026-11-24 20:54:20.32095+00:00');
INSERT INTO audits VALUES(2,1,'Root','create task','task vectoradd','','2026-11-24 20:54:20.322834+00:00');
INSERT INTO audits VALUES(3,4,'Cora','create task','task prefixsum','','2026-11-24 20:54:20.323735+00:00');
INSERT INTO audits VALUES(4,1,'Root','set team','Lab','Ann comes in, 3600 GPU-seconds a day','2026-11-24 20:54:20.325373+00:00');
INSERT INTO audits VALUES(5,1,'Root','disqualify','run 6','It answers with the reference''s own memory.','2026-11-24 20:54:20.369578+00:00');
INSERT INTO audits VALUES(6,1,'Root','pause device','device H100-SXM','the room is too warm','2026-11-24 20:54:20.379626+00:00');
CREATE TABLE settings (
    key text primary key,
    value text not null
);
INSERT INTO settings VALUES('paused.H100-SXM','{"by":"Root","since":"2026-11-24T20:54:20.379553Z","why":"the room is too warm"}');
CREATE TABLE blobs (
    hash text primary key,
    size integer not null,
    data blob not null,
    created_at datetime not null
);
INSERT INTO blobs VALUES('b3adf106d95b8934f690943f2921308b90be5b766c4c8ba250c792de56400201',13,X'23707261676d61206f6e63650a','2026-11-24 20:54:20.322366+00:00');
INSERT INTO blobs VALUES('d38d315f2e6e37b677fd7a3d572c949896e669d449dffad5bb825f9987770a62',13,X'2f2f207265666572656e63650a','2026-11-24 20:54:20.322578+00:00');
INSERT INTO blobs VALUES('32c810898cb481cedb88a01153effaebeced5219204bffcc96414649f45f2fb0',7,X'696e742061313b','2026-11-24 20:54:20.326379+00:00');
INSERT INTO blobs VALUES('54bcb8050ac47d9629d639f336fc5f59b5a5994a2ce2da5dd8cd79f3ae9bd09a',7,X'696e742062313b','2026-11-24 20:54:20.338413+00:00');
INSERT INTO blobs VALUES('3ccaa430ef74c5630219ec64f484fc4bfb1065f59db6bc9b56063697a67031e0',7,X'696e742063313b','2026-11-24 20:54:20.34637+00:00');
INSERT INTO blobs VALUES('7a6e39cb174357ebaf408e000acd0be5cf9b1b18f0c485a233d7ab7ba5964953',7,X'696e742061323b','2026-11-24 20:54:20.352114+00:00');
INSERT INTO blobs VALUES('8c62db365ab7a586b099f3b742e9d783cb3e8e5aba6d3d094540b2f5b0cb25f3',7,X'696e742062323b','2026-11-24 20:54:20.357645+00:00');
INSERT INTO blobs VALUES('6c335d3c2a189892a5cbef1f9848fc1dafce55e686b101c0f8de92ea5963178e',7,X'696e742062333b','2026-11-24 20:54:20.370192+00:00');
INSERT INTO blobs VALUES('4acac756b6fbfb8a4bba224466af21a50d7b02c032fdc7a964c21e669a29eb49',7,X'696e742062343b','2026-11-24 20:54:20.372671+00:00');
INSERT INTO blobs VALUES('65e2863ea127f4e61582a27d5146b58f8dbd3300b11af47763ff55e2f2cf5d7a',7,X'696e742061333b','2026-11-24 20:54:20.376445+00:00');
INSERT INTO blobs VALUES('d320b345afaec1d94615015b9ef5de63e92a0f62ee0599697657d970118e2831',7,X'696e742063323b','2026-11-24 20:54:20.378214+00:00');
CREATE TABLE tasks (
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
    updated_at datetime not null
, asked text, practice boolean not null default false, limits text not null default '[]', comments integer not null default 0, comments_locked boolean not null default false, reminded_of datetime, opens_at datetime);
INSERT INTO tasks VALUES(1,'vectoradd','Vectoradd',1,'["CPU"]',NULL,'public','',1,'2026-11-24 20:54:20.321369+00:00','2026-11-24 20:54:20.322703+00:00','["CPU"]',0,'[]',0,0,NULL,NULL);
INSERT INTO tasks VALUES(2,'prefixsum','Prefixsum',4,'["CPU","H100-SXM"]',NULL,'public','',2,'2026-11-24 20:54:20.323051+00:00','2026-11-24 20:54:20.323684+00:00','["CPU","H100-SXM"]',0,'[]',0,0,NULL,NULL);
CREATE TABLE task_versions (
    id integer primary key autoincrement,
    task_id integer not null references tasks (id) on delete cascade,
    number integer not null,
    key text not null,
    lang text not null,
    definition text not null,
    warnings text,
    created_by integer not null,
    created_at datetime not null, tags text, problem text not null default '',
    unique (task_id, number)
);
INSERT INTO task_versions VALUES(1,1,1,'3b9fde7e35e4f5a5242759e1174a93f1c2201f92d5d4931c8b1842b508151d56','cpp','{"form":"eval","lang":"cpp","title":"Vectoradd","description":"Add *two* vectors.","files":[{"name":"submission.cpp","source":"@SUBMISSION@"},{"name":"task.h","source":"task.h"},{"name":"reference.h","source":"reference.h"}],"config":{"sources":["submission.cpp"]},"tests":[[{"name":"size","value":"8"},{"name":"seed","value":"1"}]],"benchmarks":[[{"name":"size","value":"1024"},{"name":"seed","value":"2"}]],"timeouts":{"test":60000000000,"benchmark":60000000000,"ranked":60000000000},"ranking_by":"last","own_harness":false}',NULL,1,'2026-11-24 20:54:20.322119+00:00',NULL,'');
INSERT INTO task_versions VALUES(2,2,1,'3b9fde7e35e4f5a5242759e1174a93f1c2201f92d5d4931c8b1842b508151d56','cpp','{"form":"eval","lang":"cpp","title":"Prefixsum","description":"Add *two* vectors.","files":[{"name":"submission.cpp","source":"@SUBMISSION@"},{"name":"task.h","source":"task.h"},{"name":"reference.h","source":"reference.h"}],"config":{"sources":["submission.cpp"]},"tests":[[{"name":"size","value":"8"},{"name":"seed","value":"1"}]],"benchmarks":[[{"name":"size","value":"1024"},{"name":"seed","value":"2"}]],"timeouts":{"test":60000000000,"benchmark":60000000000,"ranked":60000000000},"ranking_by":"last","own_harness":false}',NULL,4,'2026-11-24 20:54:20.323377+00:00',NULL,'');
CREATE TABLE version_files (
    version_id integer not null references task_versions (id) on delete cascade,
    path text not null,
    hash text not null references blobs (hash),
    primary key (version_id, path)
);
INSERT INTO version_files VALUES(1,'task.h','b3adf106d95b8934f690943f2921308b90be5b766c4c8ba250c792de56400201');
INSERT INTO version_files VALUES(1,'reference.h','d38d315f2e6e37b677fd7a3d572c949896e669d449dffad5bb825f9987770a62');
INSERT INTO version_files VALUES(2,'task.h','b3adf106d95b8934f690943f2921308b90be5b766c4c8ba250c792de56400201');
INSERT INTO version_files VALUES(2,'reference.h','d38d315f2e6e37b677fd7a3d572c949896e669d449dffad5bb825f9987770a62');
CREATE TABLE submissions (
    id integer primary key autoincrement,
    user_id integer not null references users (id),
    task_id integer not null references tasks (id) on delete cascade,
    version_id integer not null references task_versions (id) on delete cascade,
    mode text not null,
    file_name text not null,
    source_hash text not null references blobs (hash),
    via text not null default '',
    created_at datetime not null
, request_key text, source_key text not null default '', added_why text not null default '', frozen_event integer not null default 0, comments integer not null default 0, comments_locked boolean not null default false, profile_filter text);
INSERT INTO submissions VALUES(1,2,1,1,'ranked','submission.cpp','32c810898cb481cedb88a01153effaebeced5219204bffcc96414649f45f2fb0','test','2026-11-24 20:54:20.326438+00:00',NULL,'32c810898cb481cedb88a01153effaebeced5219204bffcc96414649f45f2fb0','',0,0,0,NULL);
INSERT INTO submissions VALUES(2,3,1,1,'ranked','submission.cpp','54bcb8050ac47d9629d639f336fc5f59b5a5994a2ce2da5dd8cd79f3ae9bd09a','test','2026-11-24 20:54:20.338449+00:00',NULL,'54bcb8050ac47d9629d639f336fc5f59b5a5994a2ce2da5dd8cd79f3ae9bd09a','',0,0,0,NULL);
INSERT INTO submissions VALUES(3,4,1,1,'ranked','submission.cpp','3ccaa430ef74c5630219ec64f484fc4bfb1065f59db6bc9b56063697a67031e0','test','2026-11-24 20:54:20.346406+00:00',NULL,'3ccaa430ef74c5630219ec64f484fc4bfb1065f59db6bc9b56063697a67031e0','',0,0,0,NULL);
INSERT INTO submissions VALUES(4,2,1,1,'ranked','submission.cpp','7a6e39cb174357ebaf408e000acd0be5cf9b1b18f0c485a233d7ab7ba5964953','test','2026-11-24 20:54:20.352148+00:00',NULL,'7a6e39cb174357ebaf408e000acd0be5cf9b1b18f0c485a233d7ab7ba5964953','',0,0,0,NULL);
INSERT INTO submissions VALUES(5,3,1,1,'ranked','submission.cpp','8c62db365ab7a586b099f3b742e9d783cb3e8e5aba6d3d094540b2f5b0cb25f3','test','2026-11-24 20:54:20.357679+00:00',NULL,'8c62db365ab7a586b099f3b742e9d783cb3e8e5aba6d3d094540b2f5b0cb25f3','',0,0,0,NULL);
INSERT INTO submissions VALUES(6,3,1,1,'ranked','submission.cpp','6c335d3c2a189892a5cbef1f9848fc1dafce55e686b101c0f8de92ea5963178e','test','2026-11-24 20:54:20.370236+00:00',NULL,'6c335d3c2a189892a5cbef1f9848fc1dafce55e686b101c0f8de92ea5963178e','',0,0,0,NULL);
INSERT INTO submissions VALUES(7,3,1,1,'ranked','submission.cpp','4acac756b6fbfb8a4bba224466af21a50d7b02c032fdc7a964c21e669a29eb49','test','2026-11-24 20:54:20.372711+00:00',NULL,'4acac756b6fbfb8a4bba224466af21a50d7b02c032fdc7a964c21e669a29eb49','',0,0,0,NULL);
INSERT INTO submissions VALUES(8,2,1,1,'ranked','submission.cpp','65e2863ea127f4e61582a27d5146b58f8dbd3300b11af47763ff55e2f2cf5d7a','test','2026-11-24 20:54:20.37649+00:00',NULL,'65e2863ea127f4e61582a27d5146b58f8dbd3300b11af47763ff55e2f2cf5d7a','',0,0,0,NULL);
INSERT INTO submissions VALUES(9,4,2,2,'ranked','submission.cpp','d320b345afaec1d94615015b9ef5de63e92a0f62ee0599697657d970118e2831','test','2026-11-24 20:54:20.378278+00:00',NULL,'d320b345afaec1d94615015b9ef5de63e92a0f62ee0599697657d970118e2831','',0,0,0,NULL);
INSERT INTO submissions VALUES(10,4,1,1,'ranked','submission.cpp','32c810898cb481cedb88a01153effaebeced5219204bffcc96414649f45f2fb0','test','2026-11-24 20:55:00+00:00',NULL,'h10','',0,0,0,NULL);
CREATE TABLE runs (
    id integer primary key autoincrement,
    submission_id integer not null references submissions (id) on delete cascade,
    version_id integer not null references task_versions (id) on delete cascade,
    user_id integer not null references users (id),
    device text not null,
    mode text not null,
    state text not null,
    attempts integer not null default 0,
    losses integer not null default 0,
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
    disqualified_why text not null default ''
, profile_of integer references runs (id) on delete cascade, retries integer not null default 0, not_before datetime, clock text not null default '', interval_low real, interval_high real, processes integer not null default 0, noisy boolean not null default false, disqualified_by integer not null default 0, reinstated_why text not null default '', epoch_id integer not null default 0, held_why text not null default '', roof real, error_ulp real, error_relative real, pool_id integer, pooled integer not null default 0, disturbed text not null default '', note text not null default '', scored_at datetime, unit_ns integer not null default 0, overdue boolean not null default false, stopped_by_staff boolean not null default false, memory_peak integer, was_ns real, purpose text not null default 'submitted', contradicted boolean not null default false, order_id integer);
INSERT INTO runs VALUES(1,1,1,2,'CPU','ranked','done',1,0,'2f9ff9bb-6ee2-44e2-9212-21f47a8f5bc8','w1','2026-11-24 20:54:20.326438+00:00','2026-11-24 20:54:20.328223+00:00','2026-11-24 20:54:20.329895+00:00','2026-11-24 20:54:20.3299+00:00',NULL,0,1000.0,20.0,2.0,'warpboard/cpp','{"worker":"w1","device":"CPU","name":"","uuid_hash":"","sandbox":"bubblewrap"}',2000000000,1000000000,NULL,'',NULL,0,NULL,'',NULL,NULL,0,0,0,'',0,'',NULL,NULL,NULL,NULL,0,'','','2026-11-24 20:54:20.3299+00:00',0,0,0,NULL,NULL,'submitted',0,NULL);
INSERT INTO runs VALUES(2,2,1,3,'CPU','ranked','done',1,0,'6b26466f-8e54-4463-bcc1-5f8b6a3e172d','w1','2026-11-24 20:54:20.338449+00:00','2026-11-24 20:54:20.339395+00:00','2026-11-24 20:54:20.340164+00:00','2026-11-24 20:54:20.340167+00:00',NULL,0,1200.0,24.0,2.3999999999999999111,'warpboard/cpp','{"worker":"w1","device":"CPU","name":"","uuid_hash":"","sandbox":"bubblewrap"}',2000000000,1000000000,NULL,'',NULL,0,NULL,'',NULL,NULL,0,0,0,'',0,'',NULL,NULL,NULL,NULL,0,'','','2026-11-24 20:54:20.340167+00:00',0,0,0,NULL,NULL,'submitted',0,NULL);
INSERT INTO runs VALUES(3,2,1,3,'CPU','ranked','queued',0,0,'','','2026-11-24 20:54:20.344929+00:00',NULL,NULL,NULL,NULL,0,NULL,0.0,0.0,'',NULL,0,0,NULL,'',2,0,NULL,'',NULL,NULL,0,0,0,'',0,'',NULL,NULL,NULL,NULL,0,'','',NULL,0,0,0,NULL,NULL,'confirm',0,1);
INSERT INTO runs VALUES(4,3,1,4,'CPU','ranked','done',1,0,'9e4a2539-4934-477e-afa7-575d7f531545','w1','2026-11-24 20:54:20.346406+00:00','2026-11-24 20:54:20.347342+00:00','2026-11-24 20:54:20.348115+00:00','2026-11-24 20:54:20.348118+00:00',NULL,0,1201.0,24.019999999999999574,2.402000000000000135,'warpboard/cpp','{"worker":"w1","device":"CPU","name":"","uuid_hash":"","sandbox":"bubblewrap"}',2000000000,1000000000,NULL,'',NULL,0,NULL,'',NULL,NULL,0,0,0,'',0,'',NULL,NULL,NULL,NULL,0,'','','2026-11-24 20:54:20.348118+00:00',0,0,0,NULL,NULL,'submitted',0,NULL);
INSERT INTO runs VALUES(5,4,1,2,'CPU','ranked','done',1,0,'c9e3b903-c687-426f-8449-e11eb211b4b5','w1','2026-11-24 20:54:20.352148+00:00','2026-11-24 20:54:20.352876+00:00','2026-11-24 20:54:20.353647+00:00','2026-11-24 20:54:20.353649+00:00',NULL,0,950.0,19.0,1.8999999999999999111,'warpboard/cpp','{"worker":"w1","device":"CPU","name":"","uuid_hash":"","sandbox":"bubblewrap"}',2000000000,1000000000,NULL,'',NULL,0,NULL,'',NULL,NULL,0,0,0,'',0,'',NULL,NULL,NULL,NULL,0,'','','2026-11-24 20:54:20.353649+00:00',0,0,0,NULL,NULL,'submitted',0,NULL);
INSERT INTO runs VALUES(6,5,1,3,'CPU','ranked','done',1,0,'1b1637ed-eda6-4d9f-9f8d-639bca6a8ed1','w1','2026-11-24 20:54:20.357679+00:00','2026-11-24 20:54:20.358511+00:00','2026-11-24 20:54:20.359465+00:00','2026-11-24 20:54:20.359468+00:00',NULL,0,400.0,8.0,0.8000000000000000444,'warpboard/cpp','{"worker":"w1","device":"CPU","name":"","uuid_hash":"","sandbox":"bubblewrap"}',2000000000,1000000000,'2026-11-24 20:54:20.36564+00:00','It answers with the reference''s own memory.',NULL,0,NULL,'',NULL,NULL,0,0,1,'',0,'',NULL,NULL,NULL,NULL,0,'','','2026-11-24 20:54:20.359468+00:00',0,0,0,NULL,NULL,'submitted',0,NULL);
INSERT INTO runs VALUES(7,6,1,3,'CPU','ranked','cancelled',0,0,'','','2026-11-24 20:54:20.370236+00:00',NULL,NULL,'2026-11-24 20:54:20.371512+00:00',NULL,0,NULL,0.0,0.0,'',NULL,0,0,NULL,'',NULL,0,NULL,'',NULL,NULL,0,0,0,'',0,'',NULL,NULL,NULL,NULL,0,'','',NULL,0,0,0,NULL,NULL,'submitted',0,NULL);
INSERT INTO runs VALUES(8,7,1,3,'CPU','ranked','building',1,0,'2d7b98a1-08ee-4ed9-af73-89ac78b4dac6','w1','2026-11-24 20:54:20.372711+00:00','2026-11-24 20:54:20.373763+00:00','2026-11-24 20:54:20.37534+00:00',NULL,NULL,0,NULL,0.0,0.0,'',NULL,0,0,NULL,'',NULL,0,NULL,'',NULL,NULL,0,0,0,'',0,'',NULL,NULL,NULL,NULL,0,'','',NULL,0,0,0,NULL,NULL,'submitted',0,NULL);
INSERT INTO runs VALUES(9,8,1,2,'CPU','ranked','queued',0,0,'','','2026-11-24 20:54:20.37649+00:00',NULL,NULL,NULL,NULL,0,NULL,0.0,0.0,'',NULL,0,0,NULL,'',NULL,0,NULL,'',NULL,NULL,0,0,0,'',0,'',NULL,NULL,NULL,NULL,0,'','',NULL,0,0,0,NULL,NULL,'submitted',0,NULL);
INSERT INTO runs VALUES(10,9,2,4,'CPU','ranked','queued',0,0,'','','2026-11-24 20:54:20.378278+00:00',NULL,NULL,NULL,NULL,0,NULL,0.0,0.0,'',NULL,0,0,NULL,'',NULL,0,NULL,'',NULL,NULL,0,0,0,'',0,'',NULL,NULL,NULL,NULL,0,'','',NULL,0,0,0,NULL,NULL,'submitted',0,NULL);
INSERT INTO runs VALUES(11,9,2,4,'H100-SXM','ranked','queued',0,0,'','','2026-11-24 20:54:20.378278+00:00',NULL,NULL,NULL,NULL,0,NULL,0.0,0.0,'',NULL,0,0,NULL,'',NULL,0,NULL,'',NULL,NULL,0,0,0,'',0,'',NULL,NULL,NULL,NULL,0,'','',NULL,0,0,0,NULL,NULL,'submitted',0,NULL);
INSERT INTO runs VALUES(12,4,1,2,'CPU','ranked','queued',0,0,'','','2026-11-24 20:57:00+00:00',NULL,NULL,NULL,NULL,0,NULL,0.0,0.0,'',NULL,0,0,NULL,'',5,0,NULL,'',NULL,NULL,0,0,0,'',0,'',NULL,NULL,NULL,NULL,0,'','',NULL,0,0,0,NULL,NULL,'remeasure',0,3);
INSERT INTO runs VALUES(13,2,1,3,'CPU','ranked','done',0,0,'','','2026-11-24 20:55:00+00:00',NULL,'2026-11-24 20:55:01+00:00','2026-11-24 20:56:00+00:00',NULL,0,1210.0,0.0,0.0,'',NULL,0,0,NULL,'',2,0,NULL,'',NULL,NULL,0,0,0,'',0,'',NULL,NULL,NULL,NULL,0,'','','2026-11-24 20:56:00+00:00',0,0,0,NULL,NULL,'remeasure',0,2);
INSERT INTO runs VALUES(14,10,1,4,'CPU','ranked','done',0,0,'','','2026-11-24 20:55:00+00:00',NULL,'2026-11-24 20:55:01+00:00','2026-11-24 20:55:02+00:00',NULL,0,700.0,0.0,0.0,'',NULL,0,0,NULL,'',NULL,0,NULL,'',NULL,NULL,0,0,0,'',0,'#10 did not pass when it was measured again.',NULL,NULL,NULL,NULL,0,'','','2026-11-24 20:55:02+00:00',0,0,0,NULL,NULL,'submitted',0,NULL);
CREATE TABLE stages (
    id integer primary key autoincrement,
    run_id integer not null references runs (id) on delete cascade,
    attempt_id text not null,
    position integer not null,
    stage text not null,
    status text not null,
    result text not null,
    unique (attempt_id, position)
);
INSERT INTO stages VALUES(1,1,'2f9ff9bb-6ee2-44e2-9212-21f47a8f5bc8',0,'build','pass','{"stage":"build","status":"pass","started":"2026-11-24T20:54:20.329192999Z","ended":"2026-11-24T20:54:20.329192999Z"}');
INSERT INTO stages VALUES(2,1,'2f9ff9bb-6ee2-44e2-9212-21f47a8f5bc8',1,'test','pass','{"stage":"test","status":"pass","started":"2026-11-24T20:54:20.329192999Z","ended":"2026-11-24T20:54:20.329192999Z","cases":[{"index":0,"spec":"size: 8; seed: 1","status":"pass"}]}');
INSERT INTO stages VALUES(3,1,'2f9ff9bb-6ee2-44e2-9212-21f47a8f5bc8',2,'benchmark','pass','{"stage":"benchmark","status":"pass","started":"2026-11-24T20:54:20.329192999Z","ended":"2026-11-24T20:54:20.329192999Z","cases":[{"index":0,"spec":"size: 1024; seed: 2","status":"pass","runs":100,"mean":1000,"std":20,"err":2}]}');
INSERT INTO stages VALUES(4,1,'2f9ff9bb-6ee2-44e2-9212-21f47a8f5bc8',3,'ranked','pass','{"stage":"ranked","status":"pass","started":"2026-11-24T20:54:20.329192999Z","ended":"2026-11-24T20:54:20.329192999Z","cases":[{"index":0,"spec":"size: 1024; seed: 2","status":"pass","runs":100,"mean":1000,"std":20,"err":2}]}');
INSERT INTO stages VALUES(5,2,'6b26466f-8e54-4463-bcc1-5f8b6a3e172d',0,'build','pass','{"stage":"build","status":"pass","started":"2026-11-24T20:54:20.339814219Z","ended":"2026-11-24T20:54:20.339814219Z"}');
INSERT INTO stages VALUES(6,2,'6b26466f-8e54-4463-bcc1-5f8b6a3e172d',1,'test','pass','{"stage":"test","status":"pass","started":"2026-11-24T20:54:20.339814219Z","ended":"2026-11-24T20:54:20.339814219Z","cases":[{"index":0,"spec":"size: 8; seed: 1","status":"pass"}]}');
INSERT INTO stages VALUES(7,2,'6b26466f-8e54-4463-bcc1-5f8b6a3e172d',2,'benchmark','pass','{"stage":"benchmark","status":"pass","started":"2026-11-24T20:54:20.339814219Z","ended":"2026-11-24T20:54:20.339814219Z","cases":[{"index":0,"spec":"size: 1024; seed: 2","status":"pass","runs":100,"mean":1200,"std":24,"err":2.4}]}');
INSERT INTO stages VALUES(8,2,'6b26466f-8e54-4463-bcc1-5f8b6a3e172d',3,'ranked','pass','{"stage":"ranked","status":"pass","started":"2026-11-24T20:54:20.339814219Z","ended":"2026-11-24T20:54:20.339814219Z","cases":[{"index":0,"spec":"size: 1024; seed: 2","status":"pass","runs":100,"mean":1200,"std":24,"err":2.4}]}');
INSERT INTO stages VALUES(9,4,'9e4a2539-4934-477e-afa7-575d7f531545',0,'build','pass','{"stage":"build","status":"pass","started":"2026-11-24T20:54:20.347717056Z","ended":"2026-11-24T20:54:20.347717056Z"}');
INSERT INTO stages VALUES(10,4,'9e4a2539-4934-477e-afa7-575d7f531545',1,'test','pass','{"stage":"test","status":"pass","started":"2026-11-24T20:54:20.347717056Z","ended":"2026-11-24T20:54:20.347717056Z","cases":[{"index":0,"spec":"size: 8; seed: 1","status":"pass"}]}');
INSERT INTO stages VALUES(11,4,'9e4a2539-4934-477e-afa7-575d7f531545',2,'benchmark','pass','{"stage":"benchmark","status":"pass","started":"2026-11-24T20:54:20.347717056Z","ended":"2026-11-24T20:54:20.347717056Z","cases":[{"index":0,"spec":"size: 1024; seed: 2","status":"pass","runs":100,"mean":1201,"std":24.02,"err":2.402}]}');
INSERT INTO stages VALUES(12,4,'9e4a2539-4934-477e-afa7-575d7f531545',3,'ranked','pass','{"stage":"ranked","status":"pass","started":"2026-11-24T20:54:20.347717056Z","ended":"2026-11-24T20:54:20.347717056Z","cases":[{"index":0,"spec":"size: 1024; seed: 2","status":"pass","runs":100,"mean":1201,"std":24.02,"err":2.402}]}');
INSERT INTO stages VALUES(13,5,'c9e3b903-c687-426f-8449-e11eb211b4b5',0,'build','pass','{"stage":"build","status":"pass","started":"2026-11-24T20:54:20.353269171Z","ended":"2026-11-24T20:54:20.353269171Z"}');
INSERT INTO stages VALUES(14,5,'c9e3b903-c687-426f-8449-e11eb211b4b5',1,'test','pass','{"stage":"test","status":"pass","started":"2026-11-24T20:54:20.353269171Z","ended":"2026-11-24T20:54:20.353269171Z","cases":[{"index":0,"spec":"size: 8; seed: 1","status":"pass"}]}');
INSERT INTO stages VALUES(15,5,'c9e3b903-c687-426f-8449-e11eb211b4b5',2,'benchmark','pass','{"stage":"benchmark","status":"pass","started":"2026-11-24T20:54:20.353269171Z","ended":"2026-11-24T20:54:20.353269171Z","cases":[{"index":0,"spec":"size: 1024; seed: 2","status":"pass","runs":100,"mean":950,"std":19,"err":1.9}]}');
INSERT INTO stages VALUES(16,5,'c9e3b903-c687-426f-8449-e11eb211b4b5',3,'ranked','pass','{"stage":"ranked","status":"pass","started":"2026-11-24T20:54:20.353269171Z","ended":"2026-11-24T20:54:20.353269171Z","cases":[{"index":0,"spec":"size: 1024; seed: 2","status":"pass","runs":100,"mean":950,"std":19,"err":1.9}]}');
INSERT INTO stages VALUES(17,6,'1b1637ed-eda6-4d9f-9f8d-639bca6a8ed1',0,'build','pass','{"stage":"build","status":"pass","started":"2026-11-24T20:54:20.359015117Z","ended":"2026-11-24T20:54:20.359015117Z"}');
INSERT INTO stages VALUES(18,6,'1b1637ed-eda6-4d9f-9f8d-639bca6a8ed1',1,'test','pass','{"stage":"test","status":"pass","started":"2026-11-24T20:54:20.359015117Z","ended":"2026-11-24T20:54:20.359015117Z","cases":[{"index":0,"spec":"size: 8; seed: 1","status":"pass"}]}');
INSERT INTO stages VALUES(19,6,'1b1637ed-eda6-4d9f-9f8d-639bca6a8ed1',2,'benchmark','pass','{"stage":"benchmark","status":"pass","started":"2026-11-24T20:54:20.359015117Z","ended":"2026-11-24T20:54:20.359015117Z","cases":[{"index":0,"spec":"size: 1024; seed: 2","status":"pass","runs":100,"mean":400,"std":8,"err":0.8}]}');
INSERT INTO stages VALUES(20,6,'1b1637ed-eda6-4d9f-9f8d-639bca6a8ed1',3,'ranked','pass','{"stage":"ranked","status":"pass","started":"2026-11-24T20:54:20.359015117Z","ended":"2026-11-24T20:54:20.359015117Z","cases":[{"index":0,"spec":"size: 1024; seed: 2","status":"pass","runs":100,"mean":400,"std":8,"err":0.8}]}');
CREATE TABLE run_events (
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
INSERT INTO run_events VALUES(1,1,1,'CPU','',0,'state','queued',NULL,NULL,NULL,'2026-11-24 20:54:20.32736+00:00');
INSERT INTO run_events VALUES(2,1,1,'CPU','2f9ff9bb-6ee2-44e2-9212-21f47a8f5bc8',0,'state','done',NULL,NULL,1000.0,'2026-11-24 20:54:20.332048+00:00');
INSERT INTO run_events VALUES(3,2,2,'CPU','',0,'state','queued',NULL,NULL,NULL,'2026-11-24 20:54:20.3389+00:00');
INSERT INTO run_events VALUES(4,2,2,'CPU','6b26466f-8e54-4463-bcc1-5f8b6a3e172d',0,'state','done',NULL,NULL,1200.0,'2026-11-24 20:54:20.341143+00:00');
INSERT INTO run_events VALUES(5,2,3,'CPU','',0,'state','queued',NULL,NULL,NULL,'2026-11-24 20:54:20.345204+00:00');
INSERT INTO run_events VALUES(6,3,4,'CPU','',0,'state','queued',NULL,NULL,NULL,'2026-11-24 20:54:20.34684+00:00');
INSERT INTO run_events VALUES(7,3,4,'CPU','9e4a2539-4934-477e-afa7-575d7f531545',0,'state','done',NULL,NULL,1201.0,'2026-11-24 20:54:20.349196+00:00');
INSERT INTO run_events VALUES(8,4,5,'CPU','',0,'state','queued',NULL,NULL,NULL,'2026-11-24 20:54:20.352514+00:00');
INSERT INTO run_events VALUES(9,4,5,'CPU','c9e3b903-c687-426f-8449-e11eb211b4b5',0,'state','done',NULL,NULL,950.0,'2026-11-24 20:54:20.354647+00:00');
INSERT INTO run_events VALUES(10,5,6,'CPU','',0,'state','queued',NULL,NULL,NULL,'2026-11-24 20:54:20.358095+00:00');
INSERT INTO run_events VALUES(11,5,6,'CPU','1b1637ed-eda6-4d9f-9f8d-639bca6a8ed1',0,'state','done',NULL,NULL,400.0,'2026-11-24 20:54:20.36038+00:00');
INSERT INTO run_events VALUES(12,6,7,'CPU','',0,'state','queued',NULL,NULL,NULL,'2026-11-24 20:54:20.370901+00:00');
INSERT INTO run_events VALUES(13,6,7,'CPU','',0,'state','cancelled',NULL,NULL,NULL,'2026-11-24 20:54:20.371956+00:00');
INSERT INTO run_events VALUES(14,7,8,'CPU','',0,'state','queued',NULL,NULL,NULL,'2026-11-24 20:54:20.373203+00:00');
INSERT INTO run_events VALUES(15,7,8,'CPU','2d7b98a1-08ee-4ed9-af73-89ac78b4dac6',0,'state','building',NULL,NULL,NULL,'2026-11-24 20:54:20.375843+00:00');
INSERT INTO run_events VALUES(16,8,9,'CPU','',0,'state','queued',NULL,NULL,NULL,'2026-11-24 20:54:20.377073+00:00');
INSERT INTO run_events VALUES(17,9,10,'CPU','',0,'state','queued',NULL,NULL,NULL,'2026-11-24 20:54:20.378706+00:00');
INSERT INTO run_events VALUES(18,9,11,'H100-SXM','',0,'state','queued',NULL,NULL,NULL,'2026-11-24 20:54:20.379222+00:00');
CREATE TABLE artifacts (
    id integer primary key autoincrement,
    run_id integer not null references runs (id) on delete cascade,
    name text not null,
    type text not null,
    size integer not null,
    hash text not null,
    created_at datetime not null,
    unique (run_id, name)
);
CREATE TABLE entries (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    user_id integer not null references users (id),
    run_id integer not null,
    submission_id integer not null,
    score_ns real not null,
    std_ns real not null,
    err_ns real not null,
    achieved_at datetime not null, clock text not null default '', interval_low real, interval_high real, processes integer not null default 0, noisy boolean not null default false, age integer not null default 0, roof real, pooled integer not null default 0, disturbed text not null default '',
    primary key (version_id, device, user_id)
);
INSERT INTO entries VALUES(1,'CPU',2,5,4,950.0,19.0,1.8999999999999999111,'2026-11-24 20:54:20.353649+00:00','',NULL,NULL,0,0,0,NULL,0,'');
INSERT INTO entries VALUES(1,'CPU',3,2,2,1200.0,24.0,2.3999999999999999111,'2026-11-24 20:54:20.340167+00:00','',NULL,NULL,0,0,0,NULL,0,'');
INSERT INTO entries VALUES(1,'CPU',4,4,3,1201.0,24.019999999999999574,2.402000000000000135,'2026-11-24 20:54:20.348118+00:00','',NULL,NULL,0,0,0,NULL,0,'');
CREATE TABLE boards (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    change integer not null,
    size integer not null,
    leaders text,
    changed_at datetime not null, confirming integer not null default 0, epoch_id integer not null default 0, steps text,
    primary key (version_id, device)
);
INSERT INTO boards VALUES(1,'CPU',7,3,'[{"VersionID":1,"Device":"CPU","UserID":2,"RunID":5,"SubmissionID":4,"Age":0,"ScoreNS":950,"StdNS":19,"ErrNS":1.9,"Clock":"","LowNS":null,"HighNS":null,"Processes":0,"Noisy":false,"Roof":null,"EnergyJ":null,"Pooled":0,"Disturbed":"","AchievedAt":"2026-11-24T20:54:20.353649Z","Rank":1,"Tied":false},{"VersionID":1,"Device":"CPU","UserID":3,"RunID":2,"SubmissionID":2,"Age":0,"ScoreNS":1200,"StdNS":24,"ErrNS":2.4,"Clock":"","LowNS":null,"HighNS":null,"Processes":0,"Noisy":false,"Roof":null,"EnergyJ":null,"Pooled":0,"Disturbed":"","AchievedAt":"2026-11-24T20:54:20.340167Z","Rank":2,"Tied":true},{"VersionID":1,"Device":"CPU","UserID":4,"RunID":4,"SubmissionID":3,"Age":0,"ScoreNS":1201,"StdNS":24.02,"ErrNS":2.402,"Clock":"","LowNS":null,"HighNS":null,"Processes":0,"Noisy":false,"Roof":null,"EnergyJ":null,"Pooled":0,"Disturbed":"","AchievedAt":"2026-11-24T20:54:20.348118Z","Rank":2,"Tied":true}]','2026-11-24 20:54:20.36852+00:00',1,0,'[1000,950]');
CREATE TABLE records (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    run_id integer not null,
    user_id integer not null references users (id),
    submission_id integer not null,
    score_ns real not null,
    achieved_at datetime not null, age integer not null default 0,
    primary key (version_id, device, run_id)
);
INSERT INTO records VALUES(1,'CPU',1,2,1,1000.0,'2026-11-24 20:54:20.3299+00:00',0);
INSERT INTO records VALUES(1,'CPU',5,2,4,950.0,'2026-11-24 20:54:20.353649+00:00',0);
CREATE TABLE workers (
    name text primary key,
    version text not null default '',
    started_at datetime not null,
    seen_at datetime not null,
    slots text,
    attempts text,
    self_test text,
    refusing text not null default '',
    stopping boolean not null default false
, guest boolean not null default false, behind_ms integer not null default 0);
INSERT INTO workers VALUES('w1','(devel)','2026-11-24 20:54:20.323891+00:00','2026-11-24 20:54:20.324149+00:00','[{"index":0,"device":"CPU","machine":{"worker":"w1","device":"CPU","name":"","uuid_hash":"","sandbox":""},"memory":0,"arch":""}]',NULL,NULL,'',0,0,0);
CREATE TABLE worker_credentials (
    id integer primary key autoincrement,
    name text not null unique,
    secret_hash text not null,
    devices text,
    created_by integer not null,
    created_at datetime not null,
    used_at datetime,
    revoked_at datetime
, join_id integer not null default 0);
CREATE TABLE evaluations (
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
    result text
, retries integer not null default 0, not_before datetime, owner text not null default '', shared boolean not null default false, attempts integer not null default 0, unit_ns integer not null default 0, request_bytes bigint not null default 0, batch text not null default '', batch_index integer not null default 0, batch_result integer not null default 0, parked integer not null default 0, request_key text not null default '', request_hash text not null default '', shares text not null default '');
INSERT INTO evaluations VALUES('aa165d2a-2572-4022-8c2c-fc50e1d4bde0',2,'user:2','compare','CPU','{"a":1}','2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881','completed',3,'6d2c73e5-20ea-4807-a4d8-91412ce5589b',0,'w1','2026-11-24 20:54:20.379804+00:00','2026-11-24 20:54:20.380679+00:00','2026-11-24 20:54:20.381257+00:00','2026-11-24 20:54:20.381259+00:00','','{"compiled":true}',0,NULL,'user:2',0,1,0,7,'',0,0,0,'','','');
INSERT INTO evaluations VALUES('7d654064-1b36-49e1-9b20-905112233c94',2,'user:2','compare','CPU','{"a":1}','a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0fa','submitted',3,'c020e51d-d9eb-400e-9838-a2d9e1ae16a9',0,'w1','2026-11-24 20:54:20.38169+00:00','2026-11-24 20:54:20.382331+00:00','2026-11-24 20:54:20.390827+00:00',NULL,'',NULL,0,NULL,'user:2',0,1,0,7,'',0,0,0,'','','');
INSERT INTO evaluations VALUES('a8ba9c7e-f0ab-4b5a-8890-2f22fcde87c5',2,'user:2','compare','CPU','{"a":1}','594e519ae499312b29433b7dd8a97ff068defcba9755b6d5d00e84c524d67b06','submitted',1,'',0,'','2026-11-24 20:54:20.391646+00:00',NULL,NULL,NULL,'',NULL,0,NULL,'user:2',0,0,0,7,'',0,0,0,'','','');
CREATE TABLE counters (
    name text primary key,
    count integer not null,
    total real not null,
    least real not null,
    most real not null
);
INSERT INTO counters VALUES('runs.stage.build.pass',5,0.0,0.0,0.0);
INSERT INTO counters VALUES('runs.stage.test.pass',5,0.0,0.0,0.0);
INSERT INTO counters VALUES('runs.stage.benchmark.pass',5,0.0,0.0,0.0);
INSERT INTO counters VALUES('runs.stage.ranked.pass',5,0.0,0.0,0.0);
INSERT INTO counters VALUES('runs.ended.done',5,0.010182000000000000078,0.0015009999999999999471,0.0034619999999999997997);
INSERT INTO counters VALUES('runs.waited',5,0.010165999999999999689,0.0014989999999999998984,0.0034570000000000000034);
INSERT INTO counters VALUES('runs.ended.cancelled',1,0.0012760000000000000074,0.0012760000000000000074,0.0012760000000000000074);
INSERT INTO counters VALUES('evaluations.submitted',3,0.0,0.0,0.0);
INSERT INTO counters VALUES('evaluations.waited',1,0.0014530000000000000814,0.0014530000000000000814,0.0014530000000000000814);
INSERT INTO counters VALUES('evaluations.ended.completed',1,0.0014549999999999999131,0.0014549999999999999131,0.0014549999999999999131);
CREATE TABLE clock_differences (
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
CREATE TABLE IF NOT EXISTS "attempts" (
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
    log_bytes integer not null default 0, draw_epoch_id integer,
    check ((run_id is null) <> (evaluation_id is null))
);
INSERT INTO attempts VALUES('2f9ff9bb-6ee2-44e2-9212-21f47a8f5bc8',1,NULL,1,'XktmfegyMZa8NACI4sqhM3Y9iNkF6__UjwNWt4L0Hgs',2868708065964101284,'w1','2026-11-24 20:54:20.328223+00:00','2026-11-24 20:54:20.329895+00:00','2026-11-24 20:54:20.3299+00:00','done',0,0,NULL);
INSERT INTO attempts VALUES('6b26466f-8e54-4463-bcc1-5f8b6a3e172d',2,NULL,1,'wcnN7AYXxwgALW3lMybsoVLXRpNgYnsPG-a-hNRKqH0',-2925929293708126031,'w1','2026-11-24 20:54:20.339395+00:00','2026-11-24 20:54:20.340164+00:00','2026-11-24 20:54:20.340167+00:00','done',0,0,NULL);
INSERT INTO attempts VALUES('9e4a2539-4934-477e-afa7-575d7f531545',4,NULL,1,'5ULiQ1nMXE8T9duAXRpi_USSFM12YmO93yGv164npAQ',1724659243626751360,'w1','2026-11-24 20:54:20.347342+00:00','2026-11-24 20:54:20.348115+00:00','2026-11-24 20:54:20.348118+00:00','done',0,0,NULL);
INSERT INTO attempts VALUES('c9e3b903-c687-426f-8449-e11eb211b4b5',5,NULL,1,'posDc67ERFSUV_oeqQbSDO8Xp6Io3i4HrOAz-5xFTuU',-1382864767397445687,'w1','2026-11-24 20:54:20.352876+00:00','2026-11-24 20:54:20.353647+00:00','2026-11-24 20:54:20.353649+00:00','done',0,0,NULL);
INSERT INTO attempts VALUES('1b1637ed-eda6-4d9f-9f8d-639bca6a8ed1',6,NULL,1,'5XKJ_vncpZ4hrfjzqgp9g8VLkd40qzABeSGJb4GpqFs',-1206959016006134368,'w1','2026-11-24 20:54:20.358511+00:00','2026-11-24 20:54:20.359465+00:00','2026-11-24 20:54:20.359468+00:00','done',0,0,NULL);
INSERT INTO attempts VALUES('2d7b98a1-08ee-4ed9-af73-89ac78b4dac6',8,NULL,1,'suOHvRb76xlaQCzwslUFl0jmzdHpmZ5YrWU5hOGfbNo',-4035222078252392200,'w1','2026-11-24 20:54:20.373763+00:00','2026-11-24 20:54:20.37534+00:00',NULL,'',0,0,NULL);
INSERT INTO attempts VALUES('6d2c73e5-20ea-4807-a4d8-91412ce5589b',NULL,'aa165d2a-2572-4022-8c2c-fc50e1d4bde0',1,'DBFq8LU42T5Uz-9QHpr3P25kX7mmQ6sWuhFiNu-eR4E',8989382088075631208,'w1','2026-11-24 20:54:20.380679+00:00','2026-11-24 20:54:20.381257+00:00','2026-11-24 20:54:20.381259+00:00','done',0,0,NULL);
INSERT INTO attempts VALUES('c020e51d-d9eb-400e-9838-a2d9e1ae16a9',NULL,'7d654064-1b36-49e1-9b20-905112233c94',1,'RDACIYWWv5JOHgouvY8cmUZinjgEFtrNb7UeLqJd7vA',6387409745141970850,'w1','2026-11-24 20:54:20.382331+00:00','2026-11-24 20:54:20.390827+00:00',NULL,'',0,0,NULL);
CREATE TABLE flags (
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
INSERT INTO flags VALUES(1,14,'unconfirmed',0,'#10 did not pass when it was measured again.','2026-11-24 20:55:03+00:00',NULL,0,'');
CREATE TABLE bands (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    run_id integer not null, -- of its first entry
    score_ns real not null, -- of its first entry
    ahead integer not null, -- entries before it
    size integer not null, age integer not null default 0,
    primary key (version_id, device, run_id)
);
INSERT INTO bands VALUES(1,'CPU',5,950.0,0,1,0);
INSERT INTO bands VALUES(1,'CPU',2,1200.0,1,2,0);
CREATE TABLE devices (
    label text primary key,
    name text not null, -- as its driver has it
    memory integer not null, -- bytes
    seen_at datetime not null
);
CREATE TABLE epochs (
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
CREATE TABLE device_epochs (
    device text not null,
    kind text not null, -- "native", "python"
    epoch_id integer not null references epochs (id),
    seen_at datetime not null,
    primary key (device, kind, epoch_id)
);
CREATE TABLE signing_keys (
    id text primary key,
    public_key text not null,
    created_at datetime not null
);
CREATE TABLE sentinels (
    worker text not null,
    unit text not null, -- hash of its UUID
    at datetime not null, -- by the worker's clock
    device text not null,
    read_ns real not null,
    math_ns real not null,
    primary key (worker, unit, at)
);
CREATE TABLE bests (
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
INSERT INTO bests VALUES(1,'CPU',4,4,3,0,1201.0,1,'2026-11-24 20:54:20.348118+00:00');
INSERT INTO bests VALUES(1,'CPU',2,1,1,0,1000.0,1,'2026-11-24 20:54:20.3299+00:00');
INSERT INTO bests VALUES(1,'CPU',2,5,4,0,950.0,2,'2026-11-24 20:54:20.353649+00:00');
INSERT INTO bests VALUES(1,'CPU',3,2,2,0,1200.0,1,'2026-11-24 20:54:20.340167+00:00');
CREATE TABLE baselines (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    name text not null,
    run_id integer not null references runs (id) on delete cascade,
    source_hash text not null,
    primary key (version_id, device, name)
);
CREATE TABLE join_tokens (
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
CREATE TABLE logins (
    id integer primary key autoincrement,
    secret_hash text not null unique, -- of what the command asks with
    code text not null unique,        -- what a person compares or types
    host text not null,               -- as the command calls its machine
    address text not null,
    created_at datetime not null,
    expires_at datetime not null,
    user_id integer references users (id) on delete cascade, -- who said yes
    refused boolean not null default false
);
CREATE TABLE webhooks (
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
INSERT INTO webhooks VALUES(1,2,'https://hooks.example/x','["run.ended"]',1800,'whsec_OD21t7xde5eL+PRqS48K3UoWcnGX8cJh580DfWQ4ie0=',0,'2026-11-24 20:54:20.325526+00:00',NULL,'');
CREATE TABLE webhook_events (
    id integer primary key autoincrement,
    kind text not null,
    webhook_id integer not null,
    run_id integer not null,
    user_id integer not null,
    other_id integer not null,
    detail text,
    created_at datetime not null
);
INSERT INTO webhook_events VALUES(1,'run.ended',0,1,2,0,NULL,'2026-11-24 20:54:20.33235+00:00');
INSERT INTO webhook_events VALUES(2,'record.taken',0,1,2,0,NULL,'2026-11-24 20:54:20.337744+00:00');
INSERT INTO webhook_events VALUES(3,'run.ended',0,2,3,0,NULL,'2026-11-24 20:54:20.341339+00:00');
INSERT INTO webhook_events VALUES(4,'run.ended',0,4,4,0,NULL,'2026-11-24 20:54:20.349325+00:00');
INSERT INTO webhook_events VALUES(5,'run.ended',0,5,2,0,NULL,'2026-11-24 20:54:20.35482+00:00');
INSERT INTO webhook_events VALUES(6,'record.taken',0,5,2,2,'1000','2026-11-24 20:54:20.356937+00:00');
INSERT INTO webhook_events VALUES(7,'run.ended',0,6,3,0,NULL,'2026-11-24 20:54:20.360486+00:00');
INSERT INTO webhook_events VALUES(8,'record.taken',0,6,3,2,'950','2026-11-24 20:54:20.364806+00:00');
INSERT INTO webhook_events VALUES(9,'run.ended',0,7,3,0,NULL,'2026-11-24 20:54:20.372155+00:00');
CREATE TABLE webhook_deliveries (
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
CREATE TABLE charges (
    user_id integer not null references users (id) on delete cascade,
    day text not null,
    unit_ns integer not null,
    primary key (user_id, day)
);
CREATE TABLE teams (
    id integer primary key autoincrement,
    name text not null,
    name_key text not null unique,
    seconds integer not null default 0
);
INSERT INTO teams VALUES(1,'Lab','lab',3600);
CREATE TABLE team_members (
    user_id integer primary key references users (id) on delete cascade,
    team_id integer not null references teams (id) on delete cascade
);
INSERT INTO team_members VALUES(2,1);
CREATE TABLE uses (
    submission_id integer primary key,
    user_id integer not null references users (id) on delete cascade,
    task_id integer not null references tasks (id) on delete cascade,
    mode text not null,
    created_at datetime not null,
    held_ns integer not null default 0
);
CREATE TABLE invites (
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
CREATE TABLE members (
    task_id integer not null references tasks (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    invite_id integer not null references invites (id) on delete cascade,
    joined_at datetime not null,
    removed_at datetime, barred_at datetime,
    primary key (task_id, user_id)
);
CREATE TABLE events (
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
    created_at datetime not null
, comments_closed boolean not null default false);
CREATE TABLE event_tasks (
    event_id integer not null references events (id) on delete cascade,
    task_id integer not null references tasks (id) on delete cascade, position integer not null default 0,
    primary key (event_id, task_id)
);
CREATE TABLE comments (
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
CREATE TABLE comment_reports (
    id integer primary key autoincrement,
    comment_id integer not null references comments (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    reason text not null,
    created_at datetime not null,
    closed_at datetime,
    closed_by integer not null default 0,
    outcome text not null default ''
);
CREATE TABLE notices (
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
CREATE TABLE inbox_choices (
    user_id integer primary key references users (id) on delete cascade,
    off_kinds text not null default '[]' -- JSON: kinds that are off
, mail_kinds text not null default '[]', address text not null default '', new_address text not null default '', code_hash text not null default '', code_until datetime);
CREATE TABLE mails (
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
CREATE TABLE draws (
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    epoch_id integer not null, -- 0: software that is not known
    seed text not null, -- secret while the epoch is the board's newest
    created_at datetime not null,
    primary key (version_id, device, epoch_id)
);
CREATE TABLE validations (
    run_id integer primary key references runs (id) on delete cascade,
    by_run integer not null, -- in which the script runs
    script_version text not null,
    asked_by integer not null references users (id),
    asked_at datetime not null,
    answer text not null default '', -- empty: it waits
    message text not null default '',
    ended_at datetime
);
CREATE TABLE samples (
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
INSERT INTO samples VALUES(1,1,'CPU',0,'32c810898cb481cedb88a01153effaebeced5219204bffcc96414649f45f2fb0',2,1,1,'submitted',0,NULL,'',1000.0,20.0,2.0,'',NULL,NULL,0,0,NULL,'','[[1000]]','2026-11-24 20:54:20.3299+00:00');
INSERT INTO samples VALUES(2,1,'CPU',0,'54bcb8050ac47d9629d639f336fc5f59b5a5994a2ce2da5dd8cd79f3ae9bd09a',3,2,2,'submitted',0,NULL,'',1200.0,24.0,2.3999999999999999111,'',NULL,NULL,0,0,NULL,'','[[1200]]','2026-11-24 20:54:20.340167+00:00');
INSERT INTO samples VALUES(3,1,'CPU',0,'3ccaa430ef74c5630219ec64f484fc4bfb1065f59db6bc9b56063697a67031e0',4,4,4,'submitted',0,NULL,'',1201.0,24.019999999999999574,2.402000000000000135,'',NULL,NULL,0,0,NULL,'','[[1201]]','2026-11-24 20:54:20.348118+00:00');
INSERT INTO samples VALUES(4,1,'CPU',0,'7a6e39cb174357ebaf408e000acd0be5cf9b1b18f0c485a233d7ab7ba5964953',2,5,5,'submitted',0,NULL,'',950.0,19.0,1.8999999999999999111,'',NULL,NULL,0,0,NULL,'','[[950]]','2026-11-24 20:54:20.353649+00:00');
INSERT INTO samples VALUES(5,1,'CPU',0,'8c62db365ab7a586b099f3b742e9d783cb3e8e5aba6d3d094540b2f5b0cb25f3',3,6,6,'submitted',0,'2026-11-24 20:54:20.359468+00:00','measured again',400.0,8.0,0.8000000000000000444,'',NULL,NULL,0,0,NULL,'','[[400]]','2026-11-24 20:54:20.359468+00:00');
INSERT INTO samples VALUES(6,1,'CPU',0,'8c62db365ab7a586b099f3b742e9d783cb3e8e5aba6d3d094540b2f5b0cb25f3',3,6,77,'remeasure',0,NULL,'',400.0,8.0,0.8000000000000000444,'',NULL,NULL,0,0,NULL,'','[[400]]','2026-11-24 20:54:20.359468+00:00');
INSERT INTO samples VALUES(7,1,'CPU',0,'h10',4,14,14,'submitted',0,NULL,'',700.0,1.0,1.0,'',NULL,NULL,0,0,NULL,'','[[700]]','2026-11-24 20:55:02+00:00');
CREATE TABLE holds (
    id integer primary key autoincrement,
    version_id integer not null references task_versions (id) on delete cascade,
    device text not null,
    user_id integer not null references users (id) on delete cascade,
    source_key text not null,
    why text not null,
    created_at datetime not null
, run_id integer not null default 0);
INSERT INTO holds VALUES(1,1,'CPU',4,'h10','#10 did not pass when it was measured again.','2026-11-24 20:55:03+00:00',14);
CREATE TABLE orders (
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
INSERT INTO orders VALUES(1,'confirm',1,'CPU',0,1,2,0,0,'',0,'2026-11-24 20:54:20.344647+00:00',NULL,NULL,0);
INSERT INTO orders VALUES(2,'remeasure',NULL,'CPU',1,NULL,NULL,0,0,'The software of CPU changed.',0,'2026-11-24 20:55:00+00:00','2026-11-24 20:56:00+00:00',NULL,0);
INSERT INTO orders VALUES(3,'remeasure',1,'',0,NULL,NULL,0,1,'Test 2 was wrong.',0,'2026-11-24 20:57:00+00:00',NULL,NULL,0);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('goose_db_version',76);
INSERT INTO sqlite_sequence VALUES('flags',1);
INSERT INTO sqlite_sequence VALUES('users',4);
INSERT INTO sqlite_sequence VALUES('identities',4);
INSERT INTO sqlite_sequence VALUES('audits',6);
INSERT INTO sqlite_sequence VALUES('tasks',2);
INSERT INTO sqlite_sequence VALUES('task_versions',2);
INSERT INTO sqlite_sequence VALUES('tokens',1);
INSERT INTO sqlite_sequence VALUES('teams',1);
INSERT INTO sqlite_sequence VALUES('webhooks',1);
INSERT INTO sqlite_sequence VALUES('submissions',10);
INSERT INTO sqlite_sequence VALUES('runs',14);
INSERT INTO sqlite_sequence VALUES('run_events',18);
INSERT INTO sqlite_sequence VALUES('stages',20);
INSERT INTO sqlite_sequence VALUES('webhook_events',9);
INSERT INTO sqlite_sequence VALUES('samples',7);
INSERT INTO sqlite_sequence VALUES('holds',1);
INSERT INTO sqlite_sequence VALUES('orders',3);
CREATE INDEX identities_user on identities (user_id);
CREATE INDEX sessions_user on sessions (user_id);
CREATE INDEX tokens_user on tokens (user_id);
CREATE INDEX version_files_hash on version_files (hash);
CREATE INDEX submissions_user on submissions (user_id, id);
CREATE INDEX submissions_task on submissions (task_id, user_id, id);
CREATE INDEX submissions_version on submissions (version_id);
CREATE INDEX submissions_source on submissions (source_hash);
CREATE INDEX stages_run on stages (run_id);
CREATE UNIQUE INDEX run_events_once on run_events (attempt_id, seq) where seq > 0;
CREATE INDEX run_events_submission on run_events (submission_id, id);
CREATE INDEX run_events_run on run_events (run_id);
CREATE INDEX run_events_time on run_events (created_at);
CREATE INDEX artifacts_hash on artifacts (hash);
CREATE INDEX entries_run on entries (run_id);
CREATE INDEX evaluations_user on evaluations (user_id, queued_at);
CREATE INDEX evaluations_ended on evaluations (ended_at);
CREATE INDEX evaluations_attempt on evaluations (attempt_id);
CREATE UNIQUE INDEX runs_once on runs (submission_id, device) where profile_of is null;
CREATE TRIGGER runs_score_insert before insert on runs
when not (coalesce(new.score_ns, 1) >= 1 and coalesce(new.score_ns, 1) < 9e999 and new.std_ns >= 0 and new.std_ns < 9e999 and new.err_ns >= 0 and new.err_ns < 9e999)
begin
    select raise(abort, 'constraint runs_score: a score is finite and 1 ns or more');
end;
CREATE TRIGGER runs_score_update before update of score_ns, std_ns, err_ns on runs
when not (coalesce(new.score_ns, 1) >= 1 and coalesce(new.score_ns, 1) < 9e999 and new.std_ns >= 0 and new.std_ns < 9e999 and new.err_ns >= 0 and new.err_ns < 9e999)
begin
    select raise(abort, 'constraint runs_score: a score is finite and 1 ns or more');
end;
CREATE INDEX evaluations_owner on evaluations (owner, queued_at);
CREATE INDEX attempts_run on attempts (run_id) where run_id is not null;
CREATE INDEX attempts_evaluation on attempts (evaluation_id) where evaluation_id is not null;
CREATE INDEX runs_live on runs (device, user_id, queued_at, id) where ended_at is null;
CREATE INDEX evaluations_live on evaluations (device, caller, queued_at, id) where ended_at is null;
CREATE UNIQUE INDEX flags_open on flags (run_id, kind, user_id) where closed_at is null;
CREATE INDEX flags_waiting on flags (id) where closed_at is null;
CREATE INDEX flags_run on flags (run_id);
CREATE INDEX flags_person on flags (user_id, created_at);
CREATE INDEX runs_disqualified on runs (submission_id) where disqualified_at is not null;
CREATE INDEX audits_subject on audits (subject, id);
CREATE INDEX audits_actor on audits (actor_id, created_at);
CREATE INDEX bands_ahead on bands (version_id, device, ahead);
CREATE INDEX entries_order on entries (version_id, device, age, score_ns, run_id);
CREATE INDEX bands_order on bands (version_id, device, age, score_ns, run_id);
CREATE UNIQUE INDEX runs_profile_of on runs (profile_of) where profile_of is not null and mode = 'profile';
CREATE TRIGGER runs_interval_update before update of interval_low, interval_high, roof on runs
when not ((new.interval_low is null and new.interval_high is null
    or coalesce(new.interval_low >= 1 and new.interval_high >= new.interval_low and new.interval_high < 9e999, 0))
    and coalesce(new.roof > 0 and new.roof < 9e999, new.roof is null))
begin
    select raise(abort, 'constraint runs_interval: an interval is of times that a clock can show');
end;
CREATE TRIGGER entries_score_insert before insert on entries when not (new.score_ns >= 1 and new.score_ns < 9e999)
begin
    select raise(abort, 'constraint entries_score: a score is finite and 1 ns or more');
end;
CREATE TRIGGER entries_score_update before update of score_ns on entries when not (new.score_ns >= 1 and new.score_ns < 9e999)
begin
    select raise(abort, 'constraint entries_score: a score is finite and 1 ns or more');
end;
CREATE INDEX sentinels_device on sentinels (device, at);
CREATE INDEX baselines_run on baselines (run_id);
CREATE INDEX logins_expiry on logins (expires_at);
CREATE UNIQUE INDEX submissions_request on submissions (user_id, request_key) where request_key is not null;
CREATE INDEX runs_pools on runs (version_id, device, user_id, pool_id) where pool_id is not null;
CREATE INDEX bests_line on bests (version_id, device, user_id, age, achieved_at, score_ns);
CREATE INDEX runs_ended on runs (ended_at);
CREATE INDEX submissions_key on submissions (version_id, source_key);
CREATE INDEX runs_charged on runs (user_id, ended_at) where unit_ns > 0;
CREATE INDEX evaluations_charged on evaluations (user_id, ended_at) where unit_ns > 0;
CREATE INDEX webhook_deliveries_due on webhook_deliveries (next_at) where next_at is not null;
CREATE INDEX webhook_deliveries_hook on webhook_deliveries (webhook_id, id);
CREATE INDEX charges_day on charges (day);
CREATE INDEX team_members_team on team_members (team_id);
CREATE INDEX entries_person on entries (user_id, version_id, device, age, score_ns, run_id);
CREATE INDEX records_latest on records (achieved_at, run_id);
CREATE INDEX bests_steps on bests (user_id, version_id, device, achieved_at, run_id, score_ns);
CREATE INDEX evaluations_caller on evaluations (caller, queued_at, request_bytes);
CREATE INDEX evaluations_queued on evaluations (device, caller, queued_at, id) where ended_at is null and parked = 0;
CREATE INDEX evaluations_batch on evaluations (batch, batch_result) where batch <> '';
CREATE INDEX evaluations_request on evaluations (request_key, batch_index) where request_key <> '';
CREATE INDEX uses_person on uses (user_id, task_id, created_at);
CREATE INDEX uses_task on uses (task_id);
CREATE INDEX uses_old on uses (created_at);
CREATE INDEX invites_task on invites (task_id);
CREATE INDEX members_user on members (user_id);
CREATE INDEX members_invite on members (invite_id);
CREATE INDEX bests_order on bests (version_id, device, age, score_ns, run_id, achieved_at, user_id);
CREATE INDEX event_tasks_task on event_tasks (task_id);
CREATE INDEX submissions_frozen on submissions (frozen_event) where frozen_event <> 0;
CREATE INDEX comments_task on comments (task_id, id) where submission_id is null;
CREATE INDEX comments_submission on comments (submission_id, id) where submission_id is not null;
CREATE INDEX comments_person on comments (user_id, created_at);
CREATE UNIQUE INDEX comments_task_writeup on comments (task_id) where writeup and submission_id is null and removed_at is null;
CREATE UNIQUE INDEX comments_submission_writeup on comments (submission_id) where writeup and removed_at is null;
CREATE UNIQUE INDEX comment_reports_open on comment_reports (comment_id, user_id) where closed_at is null;
CREATE INDEX comment_reports_person on comment_reports (user_id, created_at);
CREATE INDEX notices_person on notices (user_id, id);
CREATE INDEX notices_task on notices (task_id);
CREATE INDEX notices_submission on notices (submission_id) where submission_id is not null;
CREATE INDEX notices_comment on notices (comment_id) where comment_id is not null;
CREATE INDEX mails_due on mails (next_at) where next_at is not null;
CREATE INDEX mails_person on mails (user_id, created_at);
CREATE INDEX mails_confirm on mails (created_at) where kind = 'confirm';
CREATE INDEX validations_by_run on validations (by_run);
CREATE INDEX evaluations_same on evaluations (request_hash, device) where request_hash <> '';
CREATE INDEX evaluations_sharing on evaluations (shares) where shares <> '';
CREATE INDEX submissions_days on submissions (user_id, created_at, task_id, frozen_event);
CREATE INDEX bands_last on bands (version_id, device, age, score_ns) where ahead < 20 and ahead + size >= 20;
CREATE INDEX evaluations_last_end on evaluations (device, caller, (case when batch = '' then 0 else 1 end), ended_at)
    where ended_at is not null and dispatched_at is not null;
CREATE UNIQUE INDEX samples_by on samples (by_run, purpose);
CREATE INDEX samples_source on samples (version_id, device, source_key, epoch_id);
CREATE UNIQUE INDEX holds_source on holds (version_id, device, user_id, source_key);
CREATE INDEX runs_valid on runs (version_id, device, user_id, epoch_id desc, score_ns, id)
    where mode = 'ranked' and state = 'done' and score_ns is not null and disqualified_at is null and purpose = 'submitted' and held_why = '';
CREATE INDEX runs_last_end on runs (device, user_id,
    (case when purpose in ('submitted', 'practice') or overdue then 1 when purpose = 'baseline' then 3 when purpose = 'remeasure' then 4 else 2 end), ended_at)
    where ended_at is not null and dispatched_at is not null and purpose <> 'confirm';
CREATE UNIQUE INDEX orders_confirming on orders (version_id, device) where purpose = 'confirm' and ended_at is null;
CREATE UNIQUE INDEX orders_open on orders (version_id) where purpose = 'remeasure' and applied_at is null and not cancelled;
CREATE INDEX orders_challenger on orders (challenger_id);
CREATE INDEX orders_holder on orders (holder_id);
CREATE INDEX orders_device on orders (device, id) where epoch_id <> 0;
CREATE INDEX runs_orders on runs (order_id) where order_id is not null;
COMMIT;
