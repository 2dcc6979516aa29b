-- Up Migration
-- Assignments of resources to identities, by people. Days are UTC and inclusive at both ends. No two assignments of a resource
-- share a day: every writer holds the tenant's advisory lock while it compares and writes.
CREATE TABLE assignments (
  assignment_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY CHECK (assignment_id <= 9007199254740991),
  tenant_name   text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  resource_id   text COLLATE "C" NOT NULL CHECK (char_length(resource_id) BETWEEN 1 AND 1000 AND resource_id !~ '[\x01-\x1f\x7f-\x9f]'),
  identity_id   text COLLATE "C" NOT NULL CHECK (char_length(identity_id) BETWEEN 1 AND 1000 AND identity_id !~ '[\x01-\x1f\x7f-\x9f]'),
  valid_from    date NOT NULL,
  valid_to      date CHECK (valid_to >= valid_from),
  reason        text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
  created_by    text NOT NULL CHECK (char_length(created_by) BETWEEN 1 AND 100),
  created_at    timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_name, resource_id, valid_from)
);
CREATE INDEX assignments_of_tenant ON assignments (tenant_name, assignment_id);
COMMENT ON TABLE assignments IS 'identities that people assigned resources to. The identity source assigned reads them';
COMMENT ON COLUMN assignments.valid_from IS 'first UTC day';
COMMENT ON COLUMN assignments.valid_to IS 'last UTC day; null: no end';

ALTER TABLE api_tokens DROP CONSTRAINT api_tokens_scopes_check;
ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_scopes_check
  CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'tags', 'assign', 'run', 'admin']);
