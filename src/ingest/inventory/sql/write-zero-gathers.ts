/** Keeps the counters, so that a restart does not forget them. $1 tenant_name, $2 those above 0, as an object. */
export const WRITE_ZERO_GATHERS = `UPDATE tenants SET zero_gathers = $2::jsonb WHERE tenant_name = $1`;
