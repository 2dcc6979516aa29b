/**
 * Counters of consecutive gatherings that returned nothing of a type, and the time of the database. last_seen_at is
 * compared with this time, so both must come from one clock. $1 tenant_name.
 */
export const READ_ZERO_GATHERS = `SELECT zero_gathers, clock_timestamp()::text AS now FROM tenants WHERE tenant_name = $1`;
