/**
 * Adds charged identities to the inventory. Identities that an upstream lists are already there. Those that only
 * chargebacks name (teams of tags, names of a map, shares of a rule, uploaded usage) are added here with the type
 * `charged`.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { UNALLOCATED } from "../../domain/allocation-rule.js";
import { runStatement } from "../../postgres/statement.js";
import { noFindings } from "./findings.js";
import type { InventoryOwner } from "./inventory-sink.js";
import { mergeSelected } from "./selected.js";
import { UPSERT_CHARGED_IDENTITIES } from "./sql/upsert-identities.js";

export interface ChargedIdentities {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly owner: InventoryOwner;
  /** First day that is read. */
  readonly from: string;
  readonly signal: AbortSignal;
}

/** If an identity is the value of a tag, its team is that value. */
const TAGGED = `
SELECT DISTINCT named_identity FROM published_billing
WHERE day >= {from:Date} AND notEmpty(named_identity) AND arrayExists(key -> trimBoth(line_tags[key]) = named_identity, {tags:Array(String)})`;

const charged = (isTagged: string) => `
SELECT identity_id, 'charged' AS identity_type, '' AS display_name, if(${isTagged}, identity_id, '') AS team,
  min(day) AS first_day, max(day) AS last_day
FROM published_sums_by_identity WHERE day >= {from:Date} AND identity_id != {nobody:String} GROUP BY identity_id`;

/** Returns a sentence for each identity that cannot be stored. */
export async function keepChargedIdentities(options: ChargedIdentities): Promise<readonly string[]> {
  const { client, postgres, owner, from, signal } = options;
  const { tenantName, ecosystem, tenantId, teams = {}, identityTags: tags = [] } = owner;
  const findings = noFindings();
  const select =
    tags.length === 0
      ? { query: charged("false"), params: { from, nobody: UNALLOCATED } }
      : { query: charged(`identity_id IN (${TAGGED})`), params: { from, nobody: UNALLOCATED, tags } };
  const common = [tenantName, ecosystem, tenantId, await databaseTime(postgres)];
  const merge = { query: UPSERT_CHARGED_IDENTITIES, params: [...common, JSON.stringify(teams)] };
  await mergeSelected({ postgres, client, kind: "identity", select, merge, findings, signal });
  return findings.errors;
}

/** Time of the database, whose clock gatherings use. */
async function databaseTime(postgres: Pool): Promise<string> {
  const read = { query: "SELECT clock_timestamp()::text AS now", params: [] };
  const { rows } = await runStatement<{ now: string }>(postgres, read);
  return rows[0]?.now ?? "";
}
