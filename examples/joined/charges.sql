-- The services' own table. It lives in the database that the gateway keeps its keys in.
CREATE TABLE charges (
  id     integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  amount integer NOT NULL CHECK (amount > 0),
  note   text
);
