-- Up Migration
-- The state of the service, which is small, is updated and needs transactions. Facts are in ClickHouse. All keys begin with
-- tenant_name, the key of the tenant in the configuration.

CREATE TABLE tenants (
  tenant_name       text PRIMARY KEY,
  tenant_id         text NOT NULL,
  ecosystem         text NOT NULL,
  gather_failures   integer NOT NULL DEFAULT 0,
  suspended_at      timestamptz,
  suspension_reason text,
  last_gather_at    timestamptz,
  zero_gathers      jsonb NOT NULL DEFAULT '{}',
  inventory_generation bigint NOT NULL DEFAULT 0,
  run_clock         timestamptz,
  runs_cut_off      integer NOT NULL DEFAULT 0,
  control_report    jsonb,
  gathered_settings text,
  files_checked_at  timestamptz
);
COMMENT ON COLUMN tenants.gather_failures IS 'consecutive failed gatherings; reset by a successful one and by a restart';
COMMENT ON COLUMN tenants.zero_gathers IS 'consecutive complete gathers that returned nothing, per entity type';
COMMENT ON COLUMN tenants.inventory_generation IS 'number of the copy of the inventory that is visible in the tenant''s ClickHouse; 0 before the first';
COMMENT ON COLUMN tenants.run_clock IS 'latest current time of a run, by the clock of its worker';
COMMENT ON COLUMN tenants.runs_cut_off IS 'consecutive runs that a lost store interrupted';
COMMENT ON COLUMN tenants.control_report IS 'digest of the input of the control totals, and sentences about them. An unchanged tenant is not counted again';
COMMENT ON COLUMN tenants.gathered_settings IS 'digest of the settings of the last successful gathering, without secrets';
COMMENT ON COLUMN tenants.files_checked_at IS 'time of the last check of all files of the store by their checksums; null if some were wrong';

-- The lock on a tenant: the process that may change its data. The epoch only grows. It is the fencing token that every publish
-- checks, and part of the names of the staging tables in ClickHouse.
CREATE TABLE leases (
  tenant_name text PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
  holder      text NOT NULL,
  epoch       bigint NOT NULL,
  expires_at  timestamptz NOT NULL
);

-- A queued run waits for a free worker. If only some days or sources fail, a run completes with errors.
CREATE TABLE runs (
  run_id                  uuid PRIMARY KEY,
  tenant_name             text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  trigger                 text NOT NULL CHECK (trigger IN ('schedule', 'api', 'cli')),
  epoch                   bigint,
  status                  text NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'completed_with_errors', 'failed')),
  stage                   text CHECK (stage IN ('gathering', 'calculating', 'publishing', 'emitting')),
  stage_date              date,
  dates_gathered          integer NOT NULL DEFAULT 0,
  dates_pending           integer NOT NULL DEFAULT 0,
  dates_calculated        integer NOT NULL DEFAULT 0,
  chargeback_rows_written bigint NOT NULL DEFAULT 0,
  errors                  jsonb NOT NULL DEFAULT '[]',
  started_at              timestamptz NOT NULL DEFAULT now(),
  ended_at                timestamptz,
  notes                   jsonb NOT NULL DEFAULT '[]'
);
COMMENT ON COLUMN runs.notes IS 'remarks about the run that are not errors, as sentences';
CREATE INDEX runs_by_tenant ON runs (tenant_name, started_at DESC);

-- One UTC day of one tenant. staged_hash: hash of the complete input waiting in the staging tables, null when there is
-- none. publishing_hash: set before the day's partitions are swapped and cleared after, so that a crash between the
-- two is rolled forward. published_hash: hash of the input the visible day was calculated from; it ends in "-provisional"
-- while data of the day is missing, so that the day and its state change in one step.
CREATE TABLE tracking_dates (
  tenant_name           text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  tracking_date         date NOT NULL,
  billing_gathered      boolean NOT NULL DEFAULT false,
  resources_gathered    boolean NOT NULL DEFAULT false,
  chargeback_calculated boolean NOT NULL DEFAULT false,
  staged_hash           text,
  publishing_hash       text,
  published_hash        text,
  allocation_attempts   integer NOT NULL DEFAULT 0,
  provisional_attempts  integer NOT NULL DEFAULT 0,
  last_error            text,
  billing_lines         bigint NOT NULL DEFAULT 0,
  chargeback_rows       bigint NOT NULL DEFAULT 0,
  calculated_at         timestamptz,
  lost_at               timestamptz,
  lacks                 text[] NOT NULL DEFAULT '{}',
  provisional           boolean NOT NULL GENERATED ALWAYS AS (coalesce(published_hash LIKE '%-provisional', false)) STORED,
  doubted_bill          text,
  doubted_epoch         bigint,
  PRIMARY KEY (tenant_name, tracking_date),
  CHECK ((doubted_bill IS NULL) = (doubted_epoch IS NULL))
);

COMMENT ON COLUMN tracking_dates.lost_at IS 'time when the day was found to be missing in the store; null after it was published again';
COMMENT ON COLUMN tracking_dates.provisional IS 'true if data of the published day is missing and may still arrive';
COMMENT ON COLUMN tracking_dates.lacks IS 'data that was missing in the last gathering of the day, as sentences';
COMMENT ON COLUMN tracking_dates.provisional_attempts IS 'consecutive gatherings with missing data. At the limit, the day becomes final as it is';
COMMENT ON COLUMN tracking_dates.doubted_bill IS 'lines and amount of a new bill with less than half of the published amount; null if there is none';
COMMENT ON COLUMN tracking_dates.doubted_epoch IS 'epoch of the lease of the run that first gathered it';

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

-- The attribution of a day to topics, if it is enabled: a second ledger of the same bill, with its own
-- hashes and attempts, so that neither ledger waits for data that only the other one needs. Columns are as in tracking_dates.
-- publishing_hash is 'withdrawn' while rows that do not add up to a new bill are removed.

CREATE TABLE topic_attribution_dates (
  tenant_name          text NOT NULL,
  tracking_date        date NOT NULL,
  staged_hash          text,
  publishing_hash      text,
  published_hash       text,
  attribution_attempts integer NOT NULL DEFAULT 0,
  last_error           text,
  billing_lines        bigint NOT NULL DEFAULT 0,
  attribution_rows     bigint NOT NULL DEFAULT 0,
  calculated_at        timestamptz,
  lost_at              timestamptz,
  lacks                text[] NOT NULL DEFAULT '{}',
  provisional_attempts integer NOT NULL DEFAULT 0,
  provisional          boolean NOT NULL GENERATED ALWAYS AS (coalesce(published_hash LIKE '%-provisional', false)) STORED,
  PRIMARY KEY (tenant_name, tracking_date),
  FOREIGN KEY (tenant_name, tracking_date) REFERENCES tracking_dates ON DELETE CASCADE
);
COMMENT ON TABLE topic_attribution_dates IS 'attributions to topics of one UTC day of one tenant';
COMMENT ON COLUMN topic_attribution_dates.billing_lines IS 'lines of the day that have a rule for topics';
COMMENT ON COLUMN topic_attribution_dates.lost_at IS 'time when the attributions were found to be missing in the store; null after they were published again';
COMMENT ON COLUMN topic_attribution_dates.provisional IS 'as in tracking_dates';
COMMENT ON COLUMN topic_attribution_dates.lacks IS 'as in tracking_dates';
COMMENT ON COLUMN topic_attribution_dates.provisional_attempts IS 'as in tracking_dates';

-- The store that has a tenant's facts. Its table store_identity has the same id: another id, or none, means that the store was
-- lost, replaced or belongs to another host.
CREATE TABLE fact_stores (
  tenant_name text PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
  store_id    uuid NOT NULL,
  noted_at    timestamptz NOT NULL DEFAULT now()
);

-- Processes that have tenants' stores open. Each updates its rows while it lives, and deletes them when it stops.
CREATE TABLE fact_store_holders (
  tenant_name text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  holder      uuid NOT NULL,
  store_id    uuid NOT NULL,
  location    text NOT NULL,
  seen_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_name, holder)
);
COMMENT ON COLUMN fact_store_holders.holder IS 'id of the process';
COMMENT ON COLUMN fact_store_holders.location IS 'location of the store: host and data directory, or the address of the server';

-- Days that were gathered without anything to publish, and days whose bill could not be gathered in the last attempt.
CREATE TABLE gathered_days (
  tenant_name   text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  tracking_date date NOT NULL,
  outcome       text NOT NULL CHECK (outcome IN ('no_bill', 'failed')),
  error         text,
  gathered_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_name, tracking_date)
);
COMMENT ON TABLE gathered_days IS 'outcome of the last gathering of a day without a bill';

-- The last complete gathering of each window: digests of the upstream's responses, and the hash of each day's input that
-- resulted from them. A row may be outdated, but is never wrong.

CREATE TABLE gathered_windows (
  tenant_name      text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  window_start     date NOT NULL,
  window_end       date NOT NULL,
  settings_hash    text NOT NULL,
  day_hashes       jsonb NOT NULL,
  topic_day_hashes jsonb NOT NULL,
  responses        jsonb NOT NULL,
  outcome          jsonb NOT NULL,
  PRIMARY KEY (tenant_name, window_start)
);
COMMENT ON TABLE gathered_windows IS 'result of the last complete gathering of each window';
COMMENT ON COLUMN gathered_windows.settings_hash IS 'hash of all settings that the result depends on';
COMMENT ON COLUMN gathered_windows.day_hashes IS 'hashes of the input of days with lines, by day';
COMMENT ON COLUMN gathered_windows.responses IS 'digests of the responses, in the form of the ecosystem';
COMMENT ON COLUMN gathered_windows.outcome IS 'counts of gathered and of dropped records';

-- The history of each resource and identity: one row for each state. `resources` and `identities` have the present state. Every
-- gathering changes those (last_seen_at); it adds a version only if the content changed, or the entity was deleted or came back.
-- The statements that write the present state write the history, and nothing else does.
--
-- Times are half-open, [valid_from, valid_to), and the versions of an entity follow each other without a gap: a deletion is a
-- version. The first version begins at -infinity, because it also covers the time before the entity was first seen (created_at
-- has its real beginning). The newest ends at infinity.
--
-- last_seen_at is null in the newest version, because the present row has it. Otherwise every gathering would write history.

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
  -- Each entity has one newest version. A deferrable constraint is checked at the end of a statement: in the middle, the old
  -- version is not closed yet.
  CONSTRAINT resource_versions_follow UNIQUE (tenant_name, resource_id, valid_to) DEFERRABLE INITIALLY IMMEDIATE,
  FOREIGN KEY (tenant_name, resource_id) REFERENCES resources ON DELETE CASCADE,
  CHECK (valid_from < valid_to)
);
COMMENT ON TABLE resource_versions IS 'states of each resource over time, without gaps. A deletion is a state';
COMMENT ON COLUMN resource_versions.valid_from IS 'inclusive; -infinity in the first version';
COMMENT ON COLUMN resource_versions.valid_to IS 'exclusive; infinity in the newest version';
COMMENT ON COLUMN resource_versions.recorded_at IS 'time of the gathering that found it';
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
COMMENT ON TABLE identity_versions IS 'states of each identity over time, without gaps. A deletion is a state';
COMMENT ON COLUMN identity_versions.valid_from IS 'inclusive; -infinity in the first version';
COMMENT ON COLUMN identity_versions.valid_to IS 'exclusive; infinity in the newest version';
COMMENT ON COLUMN identity_versions.recorded_at IS 'time of the gathering that found it';
COMMENT ON COLUMN identity_versions.last_seen_at IS 'last gathering that returned the identity in this state; null in the newest version';

CREATE SEQUENCE inventory_generations;
COMMENT ON SEQUENCE inventory_generations IS 'numbers of the copies of the inventory in ClickHouse; part of ETags, so no number is used twice';

-- Tags and their dimensions. Names compare by their bytes (COLLATE "C"): keys are case-sensitive, and lists have one order on
-- every server. No foreign keys: checking them row by row would double the time of a bulk of 100,000 tags. Instead
-- every writer holds the tenant's advisory lock, shared, and what removes dimensions holds it alone.

-- A copy of the dimensions in the tenant's ClickHouse, so that tags are validated, written and listed without it. The ids are
-- hashes of the other columns, so a row never changes.
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

-- The distinct pairs of key and display name, with the number of their tags. A search reads only these, and gets its total
-- without counting tags. label_hash: SHA-256 of both (they are too long for an index entry).
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
COMMENT ON COLUMN tag_labels.used_at IS 'time of its last use by a writer, to the hour. A pair without tags is dropped a day later';

-- Keys begin with the id where possible, because it decides nearly every comparison: a bulk takes a third less time than with
-- the tenant's name first. tag_id comes from a sequence that is never set back: an id is never used twice.
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

-- Tags with changes that the tenant's ClickHouse does not have yet, written in the transaction of the change. The values are
-- read when they are mirrored, so that a waiting change never overtakes a newer one.
CREATE TABLE tag_outbox (
  outbox_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_name   text COLLATE "C" NOT NULL,
  tag_ids       bigint[] NOT NULL,
  dimension_ids bigint[] NOT NULL CHECK (cardinality(dimension_ids) = cardinality(tag_ids)),
  written_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX tag_outbox_by_tenant ON tag_outbox (tenant_name, outbox_id);

-- The mirror of tags in a tenant's ClickHouse. mirror_id is there as well: if it differs or is missing, it is another database.
-- The process that mirrors locks the row. version: version of the newest mirrored rows.
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

-- FOCUS bills, as they were delivered. The lines of a delivery are a partition of focus_lines in the tenant's store. They
-- count while the delivery is current. Its accounts, billing periods, bytes and charges decide which of its lines count.

CREATE TABLE deliveries (
  delivery_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_name    text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  source         text NOT NULL,
  scope          text NOT NULL,
  kind           text NOT NULL CHECK (kind IN ('snapshot', 'additive')),
  content_id     text NOT NULL,
  settings_hash  text NOT NULL,
  billing_period text CHECK (billing_period ~ '^\d{4}-\d{2}$'),
  state          text NOT NULL CHECK (state IN ('loading', 'current', 'replaced', 'waiting_for_acceptance', 'refused', 'expired', 'no_bill', 'superseded')),
  files          jsonb NOT NULL DEFAULT '[]',
  lines          bigint,
  sums           jsonb NOT NULL DEFAULT '[]',
  findings       jsonb NOT NULL DEFAULT '[]',
  remarks        jsonb NOT NULL DEFAULT '[]',
  problem        text,
  first_day      date,
  last_day       date,
  epoch          bigint NOT NULL,
  started_at     timestamptz NOT NULL DEFAULT now(),
  loaded_at      timestamptz,
  accepted_at    timestamptz,
  replaced_at    timestamptz,
  replaces       bigint[] NOT NULL DEFAULT '{}',
  last_start_day date,
  expired_at     timestamptz,
  duplicates     jsonb NOT NULL DEFAULT '[]',
  periods        jsonb,
  retired        jsonb NOT NULL DEFAULT '[]',
  superseded     jsonb NOT NULL DEFAULT '[]',
  shared_charges jsonb,
  waits_for      text CHECK (waits_for IN ('shrunk', 'moved', 'overlap')),
  month_sums     jsonb NOT NULL DEFAULT '[]',
  CHECK ((loaded_at IS NULL) = (state IN ('loading', 'refused', 'no_bill'))),
  CHECK ((replaced_at IS NULL) = (state <> 'replaced')),
  CHECK ((problem IS NULL) = (state NOT IN ('waiting_for_acceptance', 'refused', 'expired', 'no_bill', 'superseded'))),
  CHECK (CASE state WHEN 'expired' THEN expired_at IS NOT NULL WHEN 'replaced' THEN true ELSE expired_at IS NULL END)
);
CREATE INDEX deliveries_current ON deliveries (tenant_name, source, scope) WHERE state = 'current';
CREATE INDEX deliveries_of_source ON deliveries (tenant_name, source, scope, delivery_id);
COMMENT ON TABLE deliveries IS 'FOCUS bills as they were delivered, and which of them count';
COMMENT ON COLUMN deliveries.delivery_id IS 'number of its partition in focus_lines; never used again';
COMMENT ON COLUMN deliveries.scope IS 'scope that a newer snapshot replaces: the billing period; empty for the whole source; for an addition, the name of its file';
COMMENT ON COLUMN deliveries.content_id IS 'digest of the names, sizes and versions of its files';
COMMENT ON COLUMN deliveries.settings_hash IS 'hash of the settings for reading the files';
COMMENT ON COLUMN deliveries.state IS 'current: its lines count; waiting_for_acceptance: loaded, and a person or a setting has to decide; refused: not readable; expired: older than retention_days, its lines are dropped; superseded: all of its charges count in other deliveries; no_bill: none of its files is a bill';
COMMENT ON COLUMN deliveries.files IS 'name, size, version, SHA-256, FOCUS version and sums of each file that was loaded; its position is the number of the file in focus_lines';
COMMENT ON COLUMN deliveries.sums IS 'lines and the four costs, by currency; amounts as text';
COMMENT ON COLUMN deliveries.findings IS 'possible problems of its lines: id, sentence, number of lines, up to 5 examples';
COMMENT ON COLUMN deliveries.remarks IS 'possible problems of its files, as sentences';
COMMENT ON COLUMN deliveries.problem IS 'reason why it is refused, waits, has expired, is superseded or is no bill, as a sentence';
COMMENT ON COLUMN deliveries.first_day IS 'UTC day on which its first charge begins';
COMMENT ON COLUMN deliveries.last_day IS 'last UTC day of its charges';
COMMENT ON COLUMN deliveries.epoch IS 'epoch of the lease of the run that loaded it';
COMMENT ON COLUMN deliveries.accepted_at IS 'time when a person accepted it although it is much smaller than before';
COMMENT ON COLUMN deliveries.replaces IS 'deliveries of other scopes that it replaces, because the source now delivers their charges in another way';
COMMENT ON COLUMN deliveries.last_start_day IS 'UTC day on which its last charge begins; null if it was loaded before this was recorded';
COMMENT ON COLUMN deliveries.expired_at IS 'time when its lines were dropped, because all of its days were older than retention_days';
COMMENT ON COLUMN deliveries.duplicates IS 'files that were not loaded because another file with the same bytes counts, with the sums of that file';
COMMENT ON COLUMN deliveries.periods IS 'days and sums by billing account and billing period; null if it was loaded before this was recorded';
COMMENT ON COLUMN deliveries.retired IS 'accounts and periods that newer deliveries of its scope have replaced';
COMMENT ON COLUMN deliveries.superseded IS 'accounts and periods of some of its files that do not count, because they count in another file or delivery';
COMMENT ON COLUMN deliveries.shared_charges IS 'charges that other files or older deliveries have as well; null if it was not compared yet';
COMMENT ON COLUMN deliveries.waits_for IS 'reason why it waits: it is much smaller than before, its source delivers in another way, or it overlaps';
COMMENT ON COLUMN deliveries.month_sums IS 'lines and the four costs, by currency and by month in which the charge begins; amounts as text';

-- Control totals: the rows that an upstream delivered, and the class of each.

CREATE TABLE control_totals (
  tenant_name text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  delivery_id bigint,
  day         date,
  currency    text NOT NULL,
  class       text NOT NULL CHECK (class IN ('delivered', 'charged', 'zero', 'outside_window', 'superseded', 'duplicate', 'left_out', 'published_only')),
  reason      text NOT NULL DEFAULT '',
  rows        bigint NOT NULL,
  cost        numeric NOT NULL,
  billed      numeric NOT NULL,
  effective   numeric NOT NULL
);
CREATE INDEX control_totals_of_tenant ON control_totals (tenant_name, day);
COMMENT ON TABLE control_totals IS 'rows that an upstream delivered, by class. delivered is the sum of all other classes except published_only';
COMMENT ON COLUMN control_totals.delivery_id IS 'delivery of the rows; null for ecosystems without deliveries';
COMMENT ON COLUMN control_totals.day IS 'UTC day on which the charge begins; null if a row has no readable day; the first of the month for the class delivered';
COMMENT ON COLUMN control_totals.class IS 'delivered: all rows. Each row is also in exactly one of the other classes. published_only: published amounts that no delivered row explains any more';
COMMENT ON COLUMN control_totals.reason IS 'reason why rows are in the class, such as before_lookback, within_cutoff or a finding';
COMMENT ON COLUMN control_totals.cost IS 'the amount that the tenant charges';
COMMENT ON COLUMN control_totals.billed IS 'BilledCost; equals cost if the upstream has only one amount';
COMMENT ON COLUMN control_totals.effective IS 'EffectiveCost; equals cost if the upstream has only one amount';

-- Uploads of usage. The rows of an upload are a partition of usage_uploads in the tenant's store; they count for the days and metrics that
-- usage_days names, which one transaction gives to a newer upload as a whole.

CREATE TABLE usage_uploads (
  upload_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_name     text NOT NULL,
  idempotency_key text NOT NULL,
  origin          text NOT NULL CHECK (origin IN ('api', 'folder')),
  state           text NOT NULL CHECK (state IN ('loading', 'stored', 'refused')),
  content_digest  text,
  size            bigint,
  rows            bigint,
  day_metrics     bigint,
  metrics         jsonb NOT NULL DEFAULT '[]',
  first_day       date,
  last_day        date,
  days_to_recalculate jsonb NOT NULL DEFAULT '[]',
  days_past_lookback  jsonb NOT NULL DEFAULT '[]',
  problems        jsonb NOT NULL DEFAULT '[]',
  started_at      timestamptz NOT NULL DEFAULT now(),
  ended_at        timestamptz,
  CHECK ((ended_at IS NULL) = (state = 'loading')),
  CHECK ((content_digest IS NULL) = (state <> 'stored')),
  CHECK ((problems = '[]') = (state <> 'refused'))
);
CREATE UNIQUE INDEX usage_uploads_by_key ON usage_uploads (tenant_name, origin, idempotency_key) WHERE state <> 'loading';
CREATE INDEX usage_uploads_of_tenant ON usage_uploads (tenant_name, upload_id);
COMMENT ON TABLE usage_uploads IS 'uploads of usage, including those that were refused in the folder';
COMMENT ON COLUMN usage_uploads.upload_id IS 'number of its partition in usage_uploads of the store; never used again';
COMMENT ON COLUMN usage_uploads.idempotency_key IS 'idempotency key of the request, or name and version of the file';
COMMENT ON COLUMN usage_uploads.state IS 'loading: not loaded completely; stored: loaded as a whole; refused: none of it is kept';
COMMENT ON COLUMN usage_uploads.content_digest IS 'SHA-256 of the bytes';
COMMENT ON COLUMN usage_uploads.day_metrics IS 'number of pairs of a day and a metric that it covers';
COMMENT ON COLUMN usage_uploads.days_to_recalculate IS 'number of its days that runs gather, or will gather';
COMMENT ON COLUMN usage_uploads.days_past_lookback IS 'number of its days that no run gathered any more when it was stored';
COMMENT ON COLUMN usage_uploads.problems IS 'reasons why it was refused: row, column and a sentence each';

CREATE TABLE usage_days (
  tenant_name text NOT NULL,
  day         date NOT NULL,
  metric      text NOT NULL,
  upload_id   bigint NOT NULL REFERENCES usage_uploads ON DELETE CASCADE,
  PRIMARY KEY (tenant_name, day, metric)
);
CREATE INDEX usage_days_of_upload ON usage_days (upload_id);
COMMENT ON TABLE usage_days IS 'the upload that the usage of a day and metric comes from';

-- One row for each file that an emitter of a tenant keeps up to date. content_hash is a hash of the days and settings that were
-- emitted last; null before the first success. It stays while newer content cannot be emitted, because the file has the old one.

CREATE TABLE emissions (
  tenant_name  text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  emitter      text COLLATE "C" NOT NULL,
  pipeline     text COLLATE "C" NOT NULL,
  span         text NOT NULL CHECK (span IN ('day', 'month')),
  first_day    date NOT NULL,
  status       text NOT NULL CHECK (status IN ('emitted', 'failed')),
  content_hash text,
  file         text,
  bytes        bigint,
  emitted_at   timestamptz,
  attempts     integer NOT NULL DEFAULT 0,
  last_error   text,
  PRIMARY KEY (tenant_name, emitter, pipeline, span, first_day),
  CHECK ((content_hash IS NULL) = (file IS NULL) AND (status = 'failed' OR content_hash IS NOT NULL)),
  CHECK (span = 'day' OR extract(day FROM first_day) = 1)
);
COMMENT ON TABLE emissions IS 'files that emitters wrote, or failed to write';
COMMENT ON COLUMN emissions.first_day IS 'UTC day of the file, or the first day of its month';
COMMENT ON COLUMN emissions.file IS 'absolute path of the file that was written last';
COMMENT ON COLUMN emissions.attempts IS 'failed attempts since the last successful one';

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
COMMENT ON TABLE api_tokens IS 'credentials for api.auth: tokens. A token is never deleted, because the audit log refers to it';
COMMENT ON COLUMN api_tokens.secret_hash IS 'SHA-256 of the token, whose 256 bits are random: it cannot be guessed, and needs no slow hash';
COMMENT ON COLUMN api_tokens.name IS 'name of its user, which is shown in the audit log and on new tags';
COMMENT ON COLUMN api_tokens.tenants IS 'names of the tenants that it permits; NULL: all, including future ones';
COMMENT ON COLUMN api_tokens.last_used_at IS 'time of its last use, to the hour';

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
COMMENT ON TABLE audit_entries IS 'the audit log: caller, time, address and subject of each change. Written by the transaction of the change, and never updated';
COMMENT ON COLUMN audit_entries.actor IS 'name of the caller; NULL if it is unknown';
COMMENT ON COLUMN audit_entries.actor_kind IS 'way in which the caller was identified; command: the command line of this machine';
COMMENT ON COLUMN audit_entries.address IS 'address that the request came from';
COMMENT ON COLUMN audit_entries.tenant_name IS 'tenant whose data was changed; NULL: none';
COMMENT ON COLUMN audit_entries.subject IS 'ids, keys and numbers of the changed object';

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused: entries are only added', TG_OP, TG_TABLE_NAME;
END
$$;
CREATE TRIGGER audit_entries_only_added BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
