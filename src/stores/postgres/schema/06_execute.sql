-- One batch, one statement, one durable unit. Each (scope, key) stands in it at most once; the arrays of a list
-- have one length. The answers come in no particular order: `list` (1 claims, 2 completes, 3 others) and `n`
-- (from 1) say whose each is. A null retention or tombstone never ends; for completes a null retention is the
-- record's own and -1 never ends. A null body is one that was too large to be kept.
--
-- o_what: 1 take_over, 2 renew, 3 release, 4 give_back, 5 settle_unknown by the owner, 6 settle_unknown by an
-- observer, 7 advance, 8 settle with an answer, 9 settle by a release.
--
-- Nothing here waits for another transaction's row; such a command's verdict is 10. In a service's own
-- transaction (`in_session`) the commands after the claim do wait, and with `wait` claims, too.
--
-- Whose batch is of claims or of completions alone calls stet.run_claims or stet.run_completes by itself: fewer arguments
-- to be read, and answers that are passed on once less.
CREATE FUNCTION stet.execute(
  c_scope bytea[] DEFAULT '{}', c_key bytea[] DEFAULT '{}', c_nonce uuid[] DEFAULT '{}',
  c_fingerprint bytea[] DEFAULT '{}', c_recipe text[] DEFAULT '{}', c_method text[] DEFAULT '{}',
  c_path bytea[] DEFAULT '{}', c_scope_rule text[] DEFAULT '{}', c_on_unknown smallint[] DEFAULT '{}',
  c_retention_ms bigint[] DEFAULT '{}', c_tombstone_ms bigint[] DEFAULT '{}', c_lease_ms bigint[] DEFAULT '{}',
  d_scope bytea[] DEFAULT '{}', d_key bytea[] DEFAULT '{}', d_nonce uuid[] DEFAULT '{}',
  d_attempt integer[] DEFAULT '{}', d_status integer[] DEFAULT '{}', d_headers jsonb[] DEFAULT '{}',
  d_raw_headers bytea[] DEFAULT '{}', d_body bytea[] DEFAULT '{}', d_retention_ms bigint[] DEFAULT '{}',
  o_what smallint[] DEFAULT '{}', o_scope bytea[] DEFAULT '{}', o_key bytea[] DEFAULT '{}',
  o_nonce uuid[] DEFAULT '{}', o_attempt integer[] DEFAULT '{}', o_new_nonce uuid[] DEFAULT '{}',
  o_lease_ms bigint[] DEFAULT '{}', o_recovery_point text[] DEFAULT '{}', o_status integer[] DEFAULT '{}',
  o_headers jsonb[] DEFAULT '{}', o_raw_headers bytea[] DEFAULT '{}', o_body bytea[] DEFAULT '{}',
  wait boolean DEFAULT false, in_session boolean DEFAULT false)
RETURNS SETOF stet.outcome
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  renewals integer[];
  i        integer;
BEGIN
  IF cardinality(c_scope) > 0 THEN
    RETURN QUERY SELECT * FROM stet.run_claims(c_scope, c_key, c_nonce, c_fingerprint, c_recipe, c_method, c_path,
      c_scope_rule, c_on_unknown, c_retention_ms, c_tombstone_ms, c_lease_ms, wait, in_session);
  END IF;
  IF cardinality(d_scope) > 0 THEN
    RETURN QUERY SELECT * FROM stet.run_completes(d_scope, d_key, d_nonce, d_attempt, d_status, d_headers,
      d_raw_headers, d_body, d_retention_ms, in_session);
  END IF;
  IF cardinality(o_scope) > 0 THEN
    renewals := array_positions(o_what, 2::smallint);
    IF cardinality(renewals) > 0 THEN
      RETURN QUERY SELECT * FROM stet.run_renewals(renewals, o_scope, o_key, o_nonce, o_attempt, o_lease_ms);
    END IF;
    FOR i IN SELECT n FROM generate_series(1, cardinality(o_scope)) n WHERE o_what[n] <> 2 ORDER BY o_scope[n], o_key[n]
    LOOP
      IF in_session THEN PERFORM stet.hold(ARRAY[o_scope[i]], ARRAY[o_key[i]]); END IF;
      RETURN NEXT stet.run_one(o_what[i], i, o_scope[i], o_key[i], o_nonce[i], o_attempt[i], o_new_nonce[i],
        o_lease_ms[i], o_recovery_point[i], o_status[i], o_headers[i], o_raw_headers[i], o_body[i], in_session);
    END LOOP;
  END IF;
END
$$;
