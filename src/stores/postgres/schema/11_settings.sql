-- Under what settings the functions that touch operations run, whatever the session's are.
--
-- The plans are pinned: made once a connection, with the index whatever the tables hold at that moment. A plan made over
-- empty tables would else read them whole when they are full; and a join would, too, by its index, were it not written as
-- one search for each command (LATERAL … OFFSET 0, or FOR UPDATE).
DO $$
DECLARE
  pinned  regprocedure;
  setting text;
BEGIN
  FOR pinned IN
    SELECT oid FROM pg_proc
     WHERE pronamespace = 'stet'::regnamespace
       AND proname IN ('run_claims', 'run_completes', 'claim', 'complete', 'claim_as_app', 'complete_as_app', 'execute', 'sweep',
                       'find', 'fence')
  LOOP
    FOREACH setting IN ARRAY ARRAY[
      'search_path = pg_catalog, pg_temp', 'plan_cache_mode = force_generic_plan', 'enable_seqscan = off',
      'enable_bitmapscan = off', 'enable_indexonlyscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off',
      'enable_material = off', 'jit = off']
    LOOP
      EXECUTE format('ALTER FUNCTION %s SET %s', pinned, setting);
    END LOOP;
  END LOOP;
END
$$;
