-- Completed operations as a day of traffic leaves them: a thousand callers, answers of 300 bytes.
INSERT INTO stet.operations (scope, key, id, nonce, created_at, expires_at, sweep_at, retention_ms, tombstone_ms, attempt, status,
                             state, on_unknown, maybe_executed, fingerprint, recipe, method, path, scope_rule, recovery_point,
                             headers, body)
SELECT made.scope, made.key, stet.operation_id(made.scope, made.key), md5('nonce' || made.n)::uuid, made.at,
       made.at + interval '24 hours', made.at + interval '24 hours', 86400000, 86400000, 1, 201, 1, 0, false,
       sha256(made.key), 'v1 json', 'POST', '/charges', 'credentials', '',
       '[["Content-Type", "application/json"], ["Location", "/charges/ch_8e03978e40d5"]]',
       convert_to('{"id":"ch_' || made.n || '","note":"' || repeat(md5(made.n::text), 6) || '"}', 'UTF8')
  FROM (SELECT n, sha256(convert_to('caller ' || mod(n, 1000), 'UTF8')) AS scope,
               convert_to(md5('key' || n), 'UTF8') AS key,
               stet.clock() - interval '12 hours' * (1 - n::float8 / %(count)s) AS at
          FROM generate_series(1, %(count)s) n OFFSET 0) made
