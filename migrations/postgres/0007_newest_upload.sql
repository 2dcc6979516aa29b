-- Up Migration
-- The schedule asks every few seconds for the newest upload of each tenant.
CREATE INDEX usage_uploads_newest ON usage_uploads (tenant_name, ended_at)
  WHERE origin = 'api' AND state = 'stored' AND days_to_recalculate <> '[]';
