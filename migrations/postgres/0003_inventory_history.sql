-- Up Migration
-- What was known of each resource and identity, and when: one row for each state that one was in. `resources` and
-- `identities` stay the present state; they change with every gathering (last_seen_at), their history only with a change
-- of content, a deletion or a return. Written by the statements that write the present state, and by nothing else.
--
-- Times are half-open, [valid_from, valid_to), and the versions of one entity follow each other without a gap: a deletion
-- is a version of its own, so that a lifetime with gaps is told by its versions. The first version begins at -infinity: it
-- also stands for the time before the entity was first seen (its created_at says when it began). The newest ends at infinity.
--
-- last_seen_at is null in the newest version, where the present row has it: else every gathering would write history.

CREATE TABLE resource_versions (
  tenant_name   text NOT NULL,
  resource_id   text NOT NULL,
  valid_from    timestamptz NOT NULL,
  valid_to      timestamptz NOT NULL,
  recorded_at   timestamptz NOT NULL,
  ecosystem     text NOT NULL,
  tenant_id     text NOT NULL,
  resource_type text NOT NULL,
  display_name  text,
  parent_id     text,
  owner_id      text,
  status        text NOT NULL CHECK (status IN ('active', 'deleted')),
  created_at    timestamptz,
  deleted_at    timestamptz,
  last_seen_at  timestamptz,
  metadata      jsonb NOT NULL,
  PRIMARY KEY (tenant_name, resource_id, valid_from),
  -- One newest version for each entity. Deferrable is checked when a statement ends, not in the middle of it, where the
  -- old one is not closed yet.
  CONSTRAINT resource_versions_follow UNIQUE (tenant_name, resource_id, valid_to) DEFERRABLE INITIALLY IMMEDIATE,
  FOREIGN KEY (tenant_name, resource_id) REFERENCES resources ON DELETE CASCADE,
  CHECK (valid_from < valid_to)
);
COMMENT ON TABLE resource_versions IS 'states that each resource was in, as they were known; no gaps, a deletion is a state';
COMMENT ON COLUMN resource_versions.valid_from IS 'inclusive; -infinity in the first version';
COMMENT ON COLUMN resource_versions.valid_to IS 'exclusive; infinity in the newest version';
COMMENT ON COLUMN resource_versions.recorded_at IS 'time of the gathering that brought it; of the migration for what was known before';
COMMENT ON COLUMN resource_versions.last_seen_at IS 'last gathering that returned the resource in this state; null in the newest version';

CREATE TABLE identity_versions (
  tenant_name   text NOT NULL,
  identity_id   text NOT NULL,
  valid_from    timestamptz NOT NULL,
  valid_to      timestamptz NOT NULL,
  recorded_at   timestamptz NOT NULL,
  ecosystem     text NOT NULL,
  tenant_id     text NOT NULL,
  identity_type text NOT NULL,
  display_name  text,
  created_at    timestamptz,
  deleted_at    timestamptz,
  last_seen_at  timestamptz,
  metadata      jsonb NOT NULL,
  PRIMARY KEY (tenant_name, identity_id, valid_from),
  CONSTRAINT identity_versions_follow UNIQUE (tenant_name, identity_id, valid_to) DEFERRABLE INITIALLY IMMEDIATE,
  FOREIGN KEY (tenant_name, identity_id) REFERENCES identities ON DELETE CASCADE,
  CHECK (valid_from < valid_to)
);
COMMENT ON TABLE identity_versions IS 'states that each identity was in, as they were known; no gaps, a deletion is a state';
COMMENT ON COLUMN identity_versions.valid_from IS 'inclusive; -infinity in the first version';
COMMENT ON COLUMN identity_versions.valid_to IS 'exclusive; infinity in the newest version';
COMMENT ON COLUMN identity_versions.recorded_at IS 'time of the gathering that brought it; of the migration for what was known before';
COMMENT ON COLUMN identity_versions.last_seen_at IS 'last gathering that returned the identity in this state; null in the newest version';

-- What is known so far: the life of each entity, and its end where it has one. Earlier gaps and names are lost.
INSERT INTO resource_versions (tenant_name, resource_id, valid_from, valid_to, recorded_at, ecosystem, tenant_id,
  resource_type, display_name, parent_id, owner_id, status, created_at, deleted_at, last_seen_at, metadata)
SELECT tenant_name, resource_id, '-infinity', coalesce(deleted_at, 'infinity'), now(), ecosystem, tenant_id,
  resource_type, display_name, parent_id, owner_id, 'active', created_at, NULL,
  CASE WHEN deleted_at IS NOT NULL THEN last_seen_at END, metadata
FROM resources
UNION ALL
SELECT tenant_name, resource_id, deleted_at, 'infinity', greatest(now(), deleted_at), ecosystem, tenant_id,
  resource_type, display_name, parent_id, owner_id, status, created_at, deleted_at, NULL, metadata
FROM resources WHERE deleted_at IS NOT NULL;

INSERT INTO identity_versions (tenant_name, identity_id, valid_from, valid_to, recorded_at, ecosystem, tenant_id,
  identity_type, display_name, created_at, deleted_at, last_seen_at, metadata)
SELECT tenant_name, identity_id, '-infinity', coalesce(deleted_at, 'infinity'), now(), ecosystem, tenant_id,
  identity_type, display_name, created_at, NULL, CASE WHEN deleted_at IS NOT NULL THEN last_seen_at END, metadata
FROM identities
UNION ALL
SELECT tenant_name, identity_id, deleted_at, 'infinity', greatest(now(), deleted_at), ecosystem, tenant_id,
  identity_type, display_name, created_at, deleted_at, NULL, metadata
FROM identities WHERE deleted_at IS NOT NULL;
