-- Up Migration
-- State of the service: what is small, changes in place and needs transactions. Facts live in ClickHouse. Everything
-- is keyed by tenant_name, the key of the tenant in the configuration.

CREATE TABLE tenants (
  tenant_name       text PRIMARY KEY,
  tenant_id         text NOT NULL,
  ecosystem         text NOT NULL,
  gather_failures   integer NOT NULL DEFAULT 0,
  suspended_at      timestamptz,
  suspension_reason text,
  last_gather_at    timestamptz,
  zero_gathers      jsonb NOT NULL DEFAULT '{}'
);
COMMENT ON COLUMN tenants.gather_failures IS 'consecutive failed gathers; reset by a good one and by a restart';
COMMENT ON COLUMN tenants.zero_gathers IS 'consecutive complete gathers that returned nothing, per entity type';

-- Who runs a tenant now. The epoch only ever grows: it is the fencing token that every publish checks, and that names
-- the staging tables in ClickHouse.
CREATE TABLE leases (
  tenant_name text PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
  holder      text NOT NULL,
  epoch       bigint NOT NULL,
  expires_at  timestamptz NOT NULL
);

CREATE TABLE runs (
  run_id                  uuid PRIMARY KEY,
  tenant_name             text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  trigger                 text NOT NULL CHECK (trigger IN ('schedule', 'api', 'cli')),
  epoch                   bigint,
  status                  text NOT NULL CHECK (status IN ('running', 'completed', 'failed')),
  stage                   text CHECK (stage IN ('gathering', 'calculating', 'publishing', 'emitting')),
  stage_date              date,
  dates_gathered          integer NOT NULL DEFAULT 0,
  dates_pending           integer NOT NULL DEFAULT 0,
  dates_calculated        integer NOT NULL DEFAULT 0,
  chargeback_rows_written bigint NOT NULL DEFAULT 0,
  errors                  jsonb NOT NULL DEFAULT '[]',
  started_at              timestamptz NOT NULL DEFAULT now(),
  ended_at                timestamptz
);
CREATE INDEX runs_by_tenant ON runs (tenant_name, started_at DESC);

-- One UTC day of one tenant. staged_hash: hash of the complete input waiting in the staging tables, null when there is
-- none. publishing_hash: set before the day's partitions are swapped and cleared after, so that a crash between the
-- two is rolled forward. published_hash: hash of the input the visible day was calculated from.
CREATE TABLE tracking_dates (
  tenant_name           text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  tracking_date         date NOT NULL,
  billing_gathered      boolean NOT NULL DEFAULT false,
  resources_gathered    boolean NOT NULL DEFAULT false,
  chargeback_calculated boolean NOT NULL DEFAULT false,
  staged_hash           text,
  publishing_hash       text,
  published_hash        text,
  has_usage_gaps        boolean NOT NULL DEFAULT false,
  allocation_attempts   integer NOT NULL DEFAULT 0,
  metrics_attempts      integer NOT NULL DEFAULT 0,
  last_error            text,
  billing_lines         bigint NOT NULL DEFAULT 0,
  chargeback_rows       bigint NOT NULL DEFAULT 0,
  calculated_at         timestamptz,
  PRIMARY KEY (tenant_name, tracking_date)
);

CREATE TABLE resources (
  tenant_name   text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  resource_id   text NOT NULL,
  ecosystem     text NOT NULL,
  tenant_id     text NOT NULL,
  resource_type text NOT NULL,
  display_name  text,
  parent_id     text,
  owner_id      text,
  status        text NOT NULL CHECK (status IN ('active', 'deleted')),
  created_at    timestamptz,
  deleted_at    timestamptz,
  last_seen_at  timestamptz NOT NULL,
  metadata      jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (tenant_name, resource_id)
);

CREATE TABLE identities (
  tenant_name   text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  identity_id   text NOT NULL,
  ecosystem     text NOT NULL,
  tenant_id     text NOT NULL,
  identity_type text NOT NULL,
  display_name  text,
  created_at    timestamptz,
  deleted_at    timestamptz,
  last_seen_at  timestamptz NOT NULL,
  metadata      jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (tenant_name, identity_id)
);
