-- Up Migration
-- Who may call the API, and who changed what.

CREATE TABLE api_tokens (
  token_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  secret_hash  bytea NOT NULL UNIQUE CHECK (octet_length(secret_hash) = 32),
  name         text NOT NULL CHECK (name ~ '^[A-Za-z0-9._@-]{1,100}$'),
  scopes       text[] NOT NULL CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'tags', 'run', 'admin']),
  tenants      text[] CHECK (cardinality(tenants) > 0),
  created_by   text,
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL,
  last_used_at timestamptz,
  revoked_at   timestamptz
);
COMMENT ON TABLE api_tokens IS 'credentials for api.auth: tokens; a token is never deleted, so that the audit can name it';
COMMENT ON COLUMN api_tokens.secret_hash IS 'SHA-256 of the token, whose 256 bits are random: it cannot be guessed, and needs no slow hash';
COMMENT ON COLUMN api_tokens.name IS 'who uses it: what the audit and new tags say';
COMMENT ON COLUMN api_tokens.tenants IS 'names of the tenants it is for; NULL: all, those of the future too';
COMMENT ON COLUMN api_tokens.last_used_at IS 'to the hour';

CREATE TABLE audit_entries (
  audit_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at          timestamptz NOT NULL DEFAULT now(),
  actor       text,
  actor_kind  text NOT NULL CHECK (actor_kind IN ('anyone', 'token', 'oidc', 'proxy', 'command')),
  token_id    bigint,
  address     text,
  request_id  text,
  tenant_name text,
  action      text NOT NULL,
  subject     jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_entries_of_tenant ON audit_entries (tenant_name, audit_id);
COMMENT ON TABLE audit_entries IS 'who changed what, when and from where; written by the transaction of the change, and never changed';
COMMENT ON COLUMN audit_entries.actor IS 'name of the caller; NULL where nobody says who they are';
COMMENT ON COLUMN audit_entries.actor_kind IS 'how the caller is known; command: the command line of this machine';
COMMENT ON COLUMN audit_entries.address IS 'where the request came from';
COMMENT ON COLUMN audit_entries.tenant_name IS 'whose data was changed; NULL: nobody''s';
COMMENT ON COLUMN audit_entries.subject IS 'what was changed: ids, keys, numbers';

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused: entries are only added', TG_OP, TG_TABLE_NAME;
END
$$;
CREATE TRIGGER audit_entries_only_added BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
