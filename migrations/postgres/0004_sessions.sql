-- Up Migration
-- Sessions of browsers, each of a token or of a user of the OpenID Connect issuer. A row is deleted when its session ends; the
-- audit log has who ended it.
CREATE TABLE sessions (
  session_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY CHECK (session_id <= 9007199254740991),
  secret_hash  bytea NOT NULL UNIQUE CHECK (octet_length(secret_hash) = 32),
  secret_at    timestamptz NOT NULL DEFAULT now(),
  former_hash  bytea UNIQUE CHECK (octet_length(former_hash) = 32),
  former_until timestamptz,
  token_id     bigint REFERENCES api_tokens,
  issuer       text,
  name         text CHECK (char_length(name) BETWEEN 1 AND 100),
  roles        text[],
  address      text,
  signed_in_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(issuer, name, roles) = CASE WHEN token_id IS NULL THEN 3 ELSE 0 END)
);
CREATE INDEX sessions_of_token ON sessions (token_id);
COMMENT ON TABLE sessions IS 'sessions of browsers, which a cookie names. Not in backups';
COMMENT ON COLUMN sessions.secret_hash IS 'SHA-256 of the cookie''s secret, whose 256 bits are random: it cannot be guessed, and needs no slow hash';
COMMENT ON COLUMN sessions.secret_at IS 'when the secret was issued. It is replaced after some minutes';
COMMENT ON COLUMN sessions.former_hash IS 'SHA-256 of the secret before, which requests in flight still have';
COMMENT ON COLUMN sessions.former_until IS 'until when the secret before is valid; NULL: until the newer one is used';
COMMENT ON COLUMN sessions.token_id IS 'the token that the session stands for; NULL: a user of the issuer';
COMMENT ON COLUMN sessions.roles IS 'roles of the user at sign-in; the configuration gives them their scopes';
COMMENT ON COLUMN sessions.address IS 'address of the sign-in';
COMMENT ON COLUMN sessions.last_used_at IS 'time of its last use, to the minute';
