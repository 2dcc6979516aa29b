-- Tags, and what they hang on. Names compare by their bytes (COLLATE "C"): keys are case-sensitive, and lists have one order on
-- every server. No foreign keys: checking them row by row would double the time of a bulk of 100,000 tags. Instead
-- every writer holds the tenant's advisory lock, shared, and what removes dimensions holds it alone.

-- Copy of what the tenant's ClickHouse knows of each dimension, so that a tag is checked, written and listed without it. The ids
-- are hashes of the other columns: a row never changes.
CREATE TABLE dimensions (
  tenant_name      text COLLATE "C" NOT NULL,
  dimension_id     bigint NOT NULL CHECK (dimension_id BETWEEN 0 AND 9007199254740991),
  ecosystem        text COLLATE "C" NOT NULL,
  tenant_id        text COLLATE "C" NOT NULL,
  env_id           text COLLATE "C" NOT NULL,
  resource_id      text COLLATE "C" NOT NULL,
  product_category text COLLATE "C" NOT NULL,
  product_type     text COLLATE "C" NOT NULL,
  identity_id      text COLLATE "C" NOT NULL,
  cost_type        text COLLATE "C" NOT NULL,
  PRIMARY KEY (dimension_id, tenant_name)
);

-- Each different pair of key and display name, once, with the number of tags that have it: a search looks at these few, and
-- knows its total without counting tags. label_hash: SHA-256 of both (they are too long for an index entry).
-- search_text: both in upper case, as the service folds it, with a line feed between them that no text can hold.
CREATE TABLE tag_labels (
  label_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_name  text COLLATE "C" NOT NULL,
  label_hash   bytea NOT NULL CHECK (octet_length(label_hash) = 32),
  tag_key      text COLLATE "C" NOT NULL CHECK (char_length(tag_key) BETWEEN 1 AND 100 AND tag_key !~ '[\x01-\x1f\x7f-\x9f]'),
  display_name text COLLATE "C" NOT NULL CHECK (char_length(display_name) BETWEEN 1 AND 500 AND display_name !~ '[\x01-\x1f\x7f-\x9f]'),
  search_text  text COLLATE "C" NOT NULL,
  tag_count    bigint NOT NULL DEFAULT 0 CHECK (tag_count >= 0),
  used_at      timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_name, label_hash)
);
COMMENT ON COLUMN tag_labels.used_at IS 'when a writer last asked for it, to the hour: one without tags is dropped a day later';

-- Keys begin with the id where they can: it settles nearly every comparison, and a bulk takes a third less time than with the
-- tenant's name first. tag_id comes from a sequence that is never set back: an id is never used twice.
CREATE TABLE tags (
  tag_id       bigint GENERATED ALWAYS AS IDENTITY CHECK (tag_id <= 9007199254740991),
  tenant_name  text COLLATE "C" NOT NULL,
  dimension_id bigint NOT NULL,
  tag_key      text COLLATE "C" NOT NULL,
  label_id     bigint NOT NULL,
  tag_value    uuid NOT NULL DEFAULT gen_random_uuid(),
  created_by   text COLLATE "C" NOT NULL CHECK (char_length(created_by) BETWEEN 1 AND 100),
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_name, tag_id),
  UNIQUE (dimension_id, tenant_name, tag_key)
);
CREATE INDEX tags_by_label ON tags (label_id, tag_id);

-- Changes that the tenant's ClickHouse does not show yet, written in the transaction of the change. Only which tags: what they are
-- now is read when they are mirrored, so that a change that waits never overtakes a newer one.
CREATE TABLE tag_outbox (
  outbox_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_name   text COLLATE "C" NOT NULL,
  tag_ids       bigint[] NOT NULL,
  dimension_ids bigint[] NOT NULL CHECK (cardinality(dimension_ids) = cardinality(tag_ids)),
  written_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX tag_outbox_by_tenant ON tag_outbox (tenant_name, outbox_id);

-- What a tenant's ClickHouse holds of its tags. mirror_id stands there too: another one, or none, is another database. The row is
-- locked by whoever mirrors. version: of the newest mirrored rows.
CREATE TABLE tag_mirrors (
  tenant_name           text COLLATE "C" PRIMARY KEY,
  mirror_id             uuid NOT NULL DEFAULT gen_random_uuid(),
  version               bigint NOT NULL DEFAULT 0,
  dimensions_up_to      text,
  oldest_day            date
);
COMMENT ON COLUMN tag_mirrors.dimensions_up_to IS 'recorded_at of the newest dimension copied from ClickHouse, UTC';
COMMENT ON COLUMN tag_mirrors.oldest_day IS 'oldest day with chargebacks when dimensions without any were last dropped';

CREATE SEQUENCE tag_mirror_versions;
