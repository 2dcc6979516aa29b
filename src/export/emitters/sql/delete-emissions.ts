import type { PgStatement } from "../../../postgres/statement.js";
import type { EmissionKey, EmissionRecord } from "./emission-records.js";

/** Deletes the record of one file. */
export function deleteEmission(
  key: EmissionKey,
  { span, first_day }: Pick<EmissionRecord, "span" | "first_day">,
): PgStatement {
  return {
    query: `
DELETE FROM emissions
WHERE tenant_name = $1 AND emitter = $2 AND pipeline = $3 AND span = $4 AND first_day = $5`,
    params: [key.tenantName, key.emitter, key.pipeline, span, first_day],
  };
}

/**
 * Deletes the records of emitters and pipelines that are no longer configured, if their days are out of retention. The
 * files themselves stay, because their location is no longer configured.
 */
export function deleteUnconfigured(input: {
  tenantName: string;
  configured: readonly Pick<EmissionKey, "emitter" | "pipeline">[];
  keepFrom: string;
}): PgStatement {
  return {
    query: `
DELETE FROM emissions
WHERE tenant_name = $1 AND first_day < date_trunc('month', $4::timestamp)
  AND (emitter, pipeline) NOT IN (SELECT * FROM unnest($2::text[], $3::text[]))`,
    params: [
      input.tenantName,
      input.configured.map(({ emitter }) => emitter),
      input.configured.map(({ pipeline }) => pipeline),
      input.keepFrom,
    ],
  };
}

/** Returns one row if another emission has the same path. */
export function otherEmissionWithFile(
  file: string,
  key: EmissionKey,
  { span, first_day }: Pick<EmissionRecord, "span" | "first_day">,
): PgStatement {
  return {
    query: `
SELECT FROM emissions
WHERE file = $1 AND (tenant_name, emitter, pipeline, span, first_day) <> ($2, $3, $4, $5, $6::date)
LIMIT 1`,
    params: [file, key.tenantName, key.emitter, key.pipeline, span, first_day],
  };
}
