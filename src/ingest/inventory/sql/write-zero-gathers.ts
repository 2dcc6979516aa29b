/** Stores the counters, so that they survive a restart. $1 tenant_name, $2 the counters above 0, as an object. */
export const WRITE_ZERO_GATHERS = `UPDATE tenants SET zero_gathers = $2::jsonb WHERE tenant_name = $1`;
