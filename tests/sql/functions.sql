-- Each case is a psql script by itself, in one database; its name is the sentence after the three dashes.

--- a claim is granted once, and its answer is replayed to whoever asks again with the same fingerprint
SELECT test.claimed('replay') AS token \gset
SELECT test.equal('second', test.verdict('replay'), 'in_progress');
SELECT stet.complete(:'token', 201, '[["Location", "/r/1"], ["Set-Cookie", "a"], ["Set-Cookie", "b"]]', 'made');
SELECT test.equal('answer', (c.verdict, c.token, c.attempt, c.status, c.headers, c.body, c.retry_after)::text,
  ('replay', NULL, NULL, 201, '[["Location", "/r/1"], ["Set-Cookie", "a"], ["Set-Cookie", "b"]]'::jsonb, 'made'::bytea, NULL)::text)
  FROM stet.claim('hotel-1', 'replay', 'the request') c;
SELECT test.equal('again', test.verdict('replay'), 'replay');

--- a claim in progress says how long its lease still lasts
SELECT test.claimed('lasts', '40 s');
SELECT test.pass('15 s');
SELECT test.equal('left', (SELECT retry_after FROM stet.claim('hotel-1', 'lasts', 'the request')), interval '25 s');

--- another request under the same key is a mismatch, whatever the state, and is told nothing of the answer
SELECT test.claimed('mismatch') AS token \gset
SELECT test.equal('pending', test.verdict('mismatch', 'another request'), 'mismatch');
SELECT stet.complete(:'token', 200, '[]', 'secret');
SELECT test.equal('completed', c::text, '(mismatch,,,,,,)') FROM stet.claim('hotel-1', 'mismatch', 'another request') c;

--- scopes are kept apart, and keys are bytes: case, spaces and normal forms all differ
SELECT test.equal('other scope', (SELECT verdict FROM stet.claim('hotel-2', 'k', 'f')), 'claimed');
SELECT test.equal('each', count(*) FILTER (WHERE c.verdict = 'claimed'), 8::bigint)
  FROM unnest(ARRAY['k', 'K', 'k ', ' k', '', E'\u00e9', E'e\u0301', '%']) key, stet.claim('hotel-1', key, 'f') c;
SELECT test.equal('none', count(*) FILTER (WHERE c.verdict = 'in_progress'), 8::bigint)
  FROM unnest(ARRAY['k', 'K', 'k ', ' k', '', E'\u00e9', E'e\u0301', '%']) key, stet.claim('hotel-1', key, 'f') c;

--- a fingerprint of 32 bytes is taken as it is, another is hashed
SELECT test.claimed('hashed');
SELECT test.equal('its hash', test.verdict('hashed', sha256('the request')), 'in_progress');

--- the token is the header's text, and holds any scope and key
SELECT c.token FROM stet.claim(E'h\u00f6tel', 'a.b', 'f') c \gset
SELECT test.equal('shape', :'token' ~ '^v1\.1\.[0-9a-f]{32}\.68c3b674656c\.612e62$', true);
SELECT stet.renew(:'token', '1 min');

--- a lapsed attempt is taken over, and the old token is fenced from then on, for everything
SELECT test.claimed('lapse', '5 s') AS old \gset
SELECT test.raises('STET1', format('SELECT stet.take_over(%L)', :'old'));
SELECT test.pass('5 s');
SELECT token AS seen, attempt FROM stet.claim('hotel-1', 'lapse', 'the request') WHERE verdict = 'lapsed' \gset
SELECT test.equal('seen', :'seen'::text, :'old'::text);
SELECT stet.take_over(:'seen') AS new \gset
SELECT test.equal('attempt', split_part(:'new', '.', 2), '2'::text);
SELECT test.raises('STET1', format('SELECT stet.take_over(%L)', :'seen'));
SELECT test.raises('STET1', format('SELECT stet.complete(%L, 200, %L, %L)', :'old', '[]', 'late'));
SELECT test.raises('STET1', format('SELECT stet.fence(%L)', :'old'));
SELECT test.raises('STET1', format('SELECT stet.renew(%L, %L)', :'old', '1 s'));
SELECT test.raises('STET1', format('SELECT stet.release(%L)', :'old'));
SELECT test.raises('STET1', format('SELECT stet.advance(%L, %L)', :'old', 'p'));
SELECT stet.complete(:'new', 200, '[]', 'right');
SELECT test.equal('body', (SELECT body FROM stet.claim('hotel-1', 'lapse', 'the request')), 'right'::bytea);

--- a renewal moves the end of the lease
SELECT test.claimed('renew', '5 s') AS token \gset
SELECT test.pass('4 s');
SELECT stet.renew(:'token', '5 s');
SELECT stet.renew(:'token', '5 s');
SELECT test.pass('4 s');
SELECT test.equal('still', test.verdict('renew'), 'in_progress');
SELECT test.pass('1 s');
SELECT test.equal('over', test.verdict('renew'), 'lapsed');
SELECT stet.renew(:'token', '5 s');
SELECT test.equal('its owner lives', test.verdict('renew'), 'in_progress');

--- a release frees the key; after an attempt that may have done something it only ends the lease
SELECT test.claimed('release') AS token \gset
SELECT stet.release(:'token');
SELECT test.raises('STET1', format('SELECT stet.release(%L)', :'token'));
SELECT test.equal('free', test.state('hotel-1', 'release'), 'absent');
SELECT test.claimed('release', '1 s') AS token \gset
SELECT test.pass('1 s');
SELECT stet.take_over(:'token') AS second \gset
SELECT stet.release(:'second');
SELECT test.equal('kept', test.verdict('release'), 'lapsed');

--- the same completion again in its transaction is no error, and other words are fenced
SELECT test.claimed('twice') AS token \gset
BEGIN;
SELECT stet.complete(:'token', 200, '[["A", "b"]]', 'same');
SELECT stet.complete(:'token', 200, '[["A", "b"]]', 'same');
COMMIT;
SELECT test.raises('STET1', format('SELECT stet.complete(%L, 200, %L, %L)', :'token', '[["A", "b"]]', 'same'));
SELECT test.raises('STET1', format('SELECT stet.complete(%L, 200, %L, %L)', :'token', '[["A", "b"]]', 'other'));
SELECT test.raises('STET1', format('SELECT stet.complete(%L, 200, %L, %L)', :'token', '[["A", "c"]]', 'same'));
SELECT test.raises('STET1', format('SELECT stet.complete(%L, 201, %L, %L)', :'token', '[["A", "b"]]', 'same'));

--- a service whose role does not wait for the disk waits for it when it claims or completes, and only then
SET synchronous_commit = off;
BEGIN;
SELECT test.equal('before', current_setting('synchronous_commit'), 'off');
SELECT test.claimed('durable') AS token \gset
SELECT test.equal('claim', current_setting('synchronous_commit'), 'on');
COMMIT;
SELECT test.equal('after', current_setting('synchronous_commit'), 'off');
BEGIN;
SAVEPOINT s;
SELECT stet.complete(:'token', 200, '[]', 'x');
SELECT test.equal('complete', current_setting('synchronous_commit'), 'on');
ROLLBACK TO SAVEPOINT s;
SELECT test.equal('undone', current_setting('synchronous_commit'), 'off');
SELECT stet.advance(:'token', 'half');
SELECT test.equal('advance', current_setting('synchronous_commit'), 'on');
ROLLBACK;
SET synchronous_commit = local;
BEGIN;
SELECT stet.complete(:'token', 200, '[]', 'x');
SELECT test.equal('a choice that survives a crash', current_setting('synchronous_commit'), 'local');
COMMIT;

--- what is a token and what is a header does not hang on how the session reads its strings
SET standard_conforming_strings = off;
SET client_min_messages = error;
SELECT test.claimed('strings') AS token \gset
SELECT test.raises('22023', format('SELECT stet.fence(%L)', replace(:'token', '.', 'x')));
SELECT test.raises('22023', format('SELECT stet.complete(%L, 200, %L, %L)', :'token', h, ''))
  FROM jsonb_build_array(jsonb_build_array('A', 'b' || chr(10) || 'c')) h;
SELECT stet.complete(:'token', 200, '[["A", "b c"]]', 'x');

--- a retention of its own rules over the record's
SELECT test.claimed('short') AS token \gset
SELECT stet.complete(:'token', 200, '[]', '', '10 s');
SELECT test.pass('9.999 s');
SELECT test.equal('kept', (SELECT expired FROM stet.sweep(100)), 0);
SELECT test.equal('replays', test.verdict('short'), 'replay');
SELECT test.pass('1 ms');
SELECT stet.sweep(100);
SELECT test.equal('over', test.verdict('short'), 'expired');

--- a null body or null headers are empty ones
SELECT test.claimed('nulls') AS token \gset
SELECT stet.complete(:'token', 204, NULL, NULL);
SELECT test.equal('headers', headers, '[]'), test.equal('body', body, ''::bytea) FROM stet.claim('hotel-1', 'nulls', 'the request');

--- a fence passes for the present token only, and not after the completion
SELECT test.claimed('fence') AS token \gset
SELECT stet.fence(:'token');
SELECT stet.fence(:'token');
SELECT stet.complete(:'token', 200, '[]', '');
SELECT test.raises('STET1', format('SELECT stet.fence(%L)', :'token'));

--- a recovery point stays with the operation for the next attempt
SELECT test.claimed('phases', '1 s') AS token \gset
SELECT stet.advance(:'token', 'charged');
SELECT stet.advance(:'token', 'charged');
SELECT test.pass('1 s');
SELECT stet.take_over(:'token');
SELECT test.equal('point', (SELECT recovery_point FROM stet.operations WHERE key = 'phases'), 'charged');

--- what a service claims by itself is left to its next attempt: no reconciler may run or settle it
SELECT test.claimed('policy');
SELECT test.equal('retry', (SELECT on_unknown FROM stet.operations WHERE key = 'policy'), 1::smallint);

--- a token of an absent operation is fenced
SELECT test.raises('STET1', format('SELECT stet.complete(%L, 200, %L, %L)', 'v1.1.00000000000000000000000000000000.61.62', '[]', ''));
SELECT test.raises('STET1', format('SELECT stet.fence(%L)', 'v1.1.00000000000000000000000000000000.61.62'));
SELECT test.raises('STET1', format('SELECT stet.release(%L)', 'v1.1.00000000000000000000000000000000.61.62'));
SELECT test.raises('STET1', format('SELECT stet.renew(%L, %L)', 'v1.1.00000000000000000000000000000000.61.62', '1 s'));
SELECT test.raises('STET1', format('SELECT stet.take_over(%L)', 'v1.1.00000000000000000000000000000000.61.62'));
SELECT test.raises('STET1', format('SELECT stet.advance(%L, %L)', 'v1.1.00000000000000000000000000000000.61.62', 'p'));

--- text that is no token is a bad argument
SELECT test.raises('22023', format('SELECT stet.fence(%L)', t)) FROM unnest(ARRAY[
  NULL, '', 'v1', 'v2.1.00000000000000000000000000000000.61.62', 'v1.0.00000000000000000000000000000000.61.62',
  'v1.1.0000000000000000000000000000000.61.62', 'v1.1.00000000000000000000000000000000.6.62',
  'v1.1.00000000000000000000000000000000.61.62.63', 'v1.9999999999.00000000000000000000000000000000.61.62',
  E'v1.1.00000000000000000000000000000000.61.62\n', 'V1.1.00000000000000000000000000000000.61.62',
  'v1.1.0000000000000000000000000000000A.61.62']) t;

--- what cannot be recorded is a bad argument, and records nothing
SELECT test.claimed('bad') AS token \gset
SELECT test.raises('22023', format('SELECT stet.complete(%L, %s, %L, %L)', :'token', s, '[]', ''))
  FROM unnest(ARRAY['NULL', '0', '100', '199', '600']) s;
SELECT test.raises('22023', format('SELECT stet.complete(%L, 200, %L, %L)', :'token', h, ''))
  FROM unnest(ARRAY['{}', '"x"', 'null', '[1]', '[["a"]]', '[["a", 1]]', '[["a", "b", "c"]]', '[["", "b"]]', '[["a b", "c"]]',
                    '[["a:", "c"]]', '[["a", "b\r\nSet-Cookie: c"]]', '[["a", "b\nc"]]', '[{"a": "b"}]']) h;
SELECT test.raises('22023', format('SELECT stet.complete(%L, 200, %L, %L, %L)', :'token', '[]', '', r))
  FROM unnest(ARRAY['0', '-1 s']) r;
SELECT test.raises('22023', format('SELECT stet.renew(%L, %s)', :'token', r)) FROM unnest(ARRAY['NULL', '''0''', '''-1 s''']) r;
SELECT test.raises('22023', format('SELECT stet.advance(%L, NULL)', :'token'));
SELECT test.raises('22023', format('SELECT stet.claim(%s)', a)) FROM unnest(ARRAY[
  'NULL, ''k'', ''f''', '''s'', NULL, ''f''', '''s'', ''k'', NULL', '''s'', ''k'', ''f'', NULL', '''s'', ''k'', ''f'', ''0''',
  '''s'', ''k'', ''f'', ''1 s'', NULL']) a;
SELECT test.raises('22023', 'SELECT stet.emit(NULL, ''x'')');
SELECT test.raises('22023', 'SELECT stet.emit(''t'', NULL)');
SELECT test.raises('22023', 'SELECT stet.emit(''t'', ''x'', NULL, ''{}'')');
SELECT test.raises('22023', 'SELECT stet.receive(NULL, ''x'')');
SELECT test.raises('22023', 'SELECT stet.receive(''s'', NULL)');
SELECT test.equal('pending', test.state('hotel-1', 'bad'), 'pending');

--- a message exists when its transaction commits, with an id that grows with time
BEGIN;
SELECT stet.emit('gone', 'x');
ROLLBACK;
SELECT stet.emit('kept', 'one', 'order-1', '[["A", "b"]]') AS first \gset
SELECT test.pass('1 ms');
SELECT stet.emit('kept', 'two') AS second \gset
SELECT test.equal('grows', :'first'::uuid < :'second'::uuid, true);
SELECT test.equal('version', substr(:'first', 15, 1), '7');
SELECT test.equal('rows', array_agg(topic || ' ' || convert_from(payload, 'UTF8') ORDER BY seq), ARRAY['kept one', 'kept two'])
  FROM stet.outbox;
SELECT test.equal('order', order_key, 'order-1'), test.equal('headers', headers, '[["A", "b"]]') FROM stet.outbox WHERE id = :'first';

--- an event is received once for each source, unless its transaction rolls back
BEGIN;
SELECT test.equal('first', stet.receive('stripe', 'evt_1'), true);
SELECT test.equal('second', stet.receive('stripe', 'evt_1'), false);
ROLLBACK;
SELECT test.equal('anew', stet.receive('stripe', 'evt_1'), true);
SELECT test.equal('again', stet.receive('stripe', 'evt_1'), false);
SELECT test.equal('another source', stet.receive('adyen', 'evt_1'), true);

--- a claim and its rows vanish together when the transaction rolls back
CREATE TABLE rooms (n int);
BEGIN;
SELECT test.claimed('vanish') AS token \gset
INSERT INTO rooms VALUES (1);
SELECT stet.complete(:'token', 201, '[]', 'room 1');
ROLLBACK;
SELECT test.equal('absent', test.state('hotel-1', 'vanish'), 'absent');
BEGIN;
SELECT test.claimed('vanish') AS token \gset
INSERT INTO rooms VALUES (2);
SELECT stet.complete(:'token', 201, '[]', 'room 2');
COMMIT;
SELECT test.equal('one', (SELECT array_agg(n) FROM rooms), ARRAY[2]);
SELECT test.equal('no lease is left', count(*), 0::bigint) FROM stet.leases WHERE key = 'vanish';

--- an expired operation says so to everybody until its tombstone ends, and is then as if it had never been
SELECT test.claimed('tomb') AS token \gset
SELECT stet.complete(:'token', 200, '[]', 'x');
SELECT test.pass('1 day');
SELECT stet.sweep(1000);
SELECT test.equal('expired', test.verdict('tomb', 'whatever'), 'expired');
SELECT test.raises('STET1', format('SELECT stet.complete(%L, 200, %L, %L)', :'token', '[]', 'x'));
SELECT test.pass('1 day');
SELECT stet.sweep(1000);
SELECT test.claimed('tomb');

--- a sweep does not touch what is pending or unknown, however old
SELECT test.claimed('open');
SELECT test.pass('400 days');
SELECT stet.sweep(1000), stet.sweep(1000);
SELECT test.equal('lapsed', test.verdict('open'), 'lapsed');

--- a sweep removes leases whose operation a service has completed, and no other
SELECT test.claimed('stale') AS token \gset
BEGIN;
SELECT stet.complete(:'token', 200, '[]', 'x');
COMMIT;
SELECT test.claimed('live');
SELECT test.equal('left', count(*), 2::bigint) FROM stet.leases WHERE key IN ('stale', 'live');
SELECT test.pass('31 s');
SELECT stet.sweep(1000);
SELECT test.equal('kept', array_agg(convert_from(key, 'UTF8')), ARRAY['live']) FROM stet.leases WHERE key IN ('stale', 'live');

--- a lease that was left behind does not outlive its operation: the next claim has its own
SELECT test.claimed('left', '1 hour') AS token \gset
SELECT stet.release(:'token');
SELECT test.claimed('left', '5 s') AS token \gset
SELECT test.pass('5 s');
SELECT test.equal('lapsed', test.verdict('left'), 'lapsed');

--- operations are found by the id that the gateway shows
SELECT test.claimed('found');
SELECT test.equal('key', (SELECT key FROM stet.find(stet.operation_id('hotel-1', 'found'))), 'found'::bytea);
SELECT test.equal('none', (SELECT count(*) FROM stet.find(stet.operation_id('hotel-1', 'not found'))), 0::bigint);
SELECT test.equal('id', stet.operation_id('s', 'k'), '5b00e57b-de0f-ffdb-e6be-1ae32e2303eb'::uuid);
SELECT test.equal('long', stet.operation_id(repeat('s', 70000)::bytea, repeat('k', 300)::bytea),
  'aaaea067-b8c2-087e-822a-293296571cde'::uuid);

--- the functions say what they raise
SELECT test.equal(p.proname::text, obj_description(p.oid) LIKE '%SQLSTATEs: %', true)
  FROM pg_proc p WHERE p.pronamespace = 'stet'::regnamespace
   AND p.proname IN ('claim', 'take_over', 'complete', 'fence', 'release', 'renew', 'advance', 'emit', 'receive');

--- every function that runs with its owner's rights pins where names are looked up
SELECT test.equal(p.oid::regprocedure::text, p.proconfig @> ARRAY['search_path=pg_catalog, pg_temp'], true)
  FROM pg_proc p WHERE p.pronamespace = 'stet'::regnamespace AND p.prosecdef AND p.proname <> 'clock';
