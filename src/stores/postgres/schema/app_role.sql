-- The rights of an application: the functions of the joint transaction and nothing else. To see an answer it must
-- know scope, key and fingerprint.
GRANT USAGE ON SCHEMA stet TO @role@;
GRANT EXECUTE ON FUNCTION
  stet.claim, stet.take_over, stet.complete, stet.fence, stet.release, stet.renew, stet.advance, stet.emit,
  stet.receive, stet.claims_as_app, stet.claim_as_app, stet.completes_as_app, stet.complete_as_app, stet.execute_as_app
  TO @role@;
