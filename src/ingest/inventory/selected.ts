/**
 * Merges entities that the tenant's store selects into Postgres. ClickHouse writes the text that COPY reads, and both
 * check and merge the rows in SQL, so rows never become objects in this process.
 */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool, PoolClient } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { engineBytes, spillingGroups } from "../../clickhouse/engine-bytes.js";
import type { Statement } from "../../clickhouse/statement.js";
import { runStatement } from "../../postgres/statement.js";
import { withTransaction } from "../../postgres/transaction.js";
import { quotedValue } from "../staging/staged-row.js";
import type { InventoryFindings } from "./findings.js";
import { refusalSql } from "./refuse-key.js";
import {
  CREATE_SELECTED_IDENTITIES,
  CREATE_SELECTED_RESOURCES,
  countSelected,
  refusedOfSelected,
  tableOf,
} from "./sql/selected.js";

export interface SelectedEntities {
  readonly postgres: Pool;
  readonly client: ClickHouseClient;
  readonly kind: "resource" | "identity";
  /**
   * Rows of the kind, each id once. The columns are `resource_id`, `resource_type`, `display_name`, `parent_id`,
   * `owner_id`, or `identity_id`, `identity_type`, `display_name`, `team`, as texts that may be empty; and the days of
   * the first and the last costs, `first_day` and `last_day`, which may be null.
   */
  readonly select: Statement;
  /** Writes the rows of the kind's table that can be stored, see `sql/selected.ts`. */
  readonly merge: { readonly query: string; readonly params: readonly unknown[] };
  readonly findings: InventoryFindings;
  readonly signal: AbortSignal;
}

const kinds = {
  resource: {
    create: CREATE_SELECTED_RESOURCES,
    key: ["resource_id", "resource_type"] as const,
    names: ["display_name", "parent_id", "owner_id"],
  },
  identity: {
    create: CREATE_SELECTED_IDENTITIES,
    key: ["identity_id", "identity_type"],
    names: ["display_name", "team"],
  },
} as const;

/** Errors that are reported one by one. */
const MOST_ERRORS = 20;

/** A merge of 500,000 new resources takes half a minute on a slow disk. */
const STATEMENT_TIMEOUT = "SET LOCAL statement_timeout = '30min'";

/** Merges all rows or, if it throws, none. Returns false if some rows could not be stored. */
export async function mergeSelected(selected: SelectedEntities): Promise<boolean> {
  const { postgres, client, kind, select, merge, signal } = selected;
  // Connect to Postgres only when the store has begun to write.
  const rows = await engineBytes(client, textOf(kind, select), signal, spillingGroups);
  const stop = { signal, beforeCommit: () => signal.throwIfAborted() };
  return await withTransaction(
    postgres,
    async (transaction) => {
      await runStatement(transaction, { query: STATEMENT_TIMEOUT, params: [] });
      await runStatement(transaction, { query: kinds[kind].create, params: [] });
      await pipeline(
        Readable.from(rows, { objectMode: false }),
        transaction.query(copyFrom(copyInto(kind))),
        {
          signal,
        },
      );
      await runStatement(transaction, { query: `ANALYZE ${tableOf[kind]}`, params: [] });
      const refused = await report(transaction, selected);
      await runStatement(transaction, merge);
      return refused === 0;
    },
    stop,
  );
}

const TIMES = ["first_seen", "last_seen"] as const;

function copyInto(kind: "resource" | "identity"): string {
  const { key, names } = kinds[kind];
  return `COPY ${tableOf[kind]} (${["refusal", ...key, ...names, ...TIMES].join(", ")}) FROM STDIN`;
}

/**
 * Selects the columns of `copyInto`, in their order. Texts become valid UTF-8 without zero bytes, as Postgres requires.
 */
function textOf(kind: "resource" | "identity", { query, params }: Statement): Statement {
  const { key, names } = kinds[kind];
  const text = (column: string) => `replaceAll(toValidUTF8(toString(${column})), '\\0', '\uFFFD')`;
  const midnight = (column: string) => `concat(toString(${column}), ' 00:00:00+00')`;
  const columns = [
    refusalSql(key[0], key[1]),
    ...key.map(text),
    ...names.map((name) => `nullIf(${text(name)}, '')`),
    midnight("first_day"),
    midnight("last_day"),
  ];
  return { query: `SELECT ${columns.join(", ")} FROM (${query}) FORMAT TabSeparated`, params };
}

/** Returns the number of rows that cannot be stored. */
async function report(transaction: PoolClient, { kind, findings }: SelectedEntities): Promise<number> {
  const types = await runStatement<{ type: string; stored: number; refused: number }>(transaction, {
    query: countSelected(kind),
    params: [],
  });
  let refusals = 0;
  for (const { type, stored, refused } of types.rows) {
    const name = `${kind}:${type}`;
    if (stored > 0) findings.counts.set(name, (findings.counts.get(name) ?? 0) + stored);
    if (refused > 0) findings.incomplete.add(name);
    refusals += refused;
  }
  const refused = await runStatement<{ id: string; refusal: string }>(transaction, {
    query: refusedOfSelected(kind),
    params: [MOST_ERRORS],
  });
  for (const { id, refusal } of refused.rows) findings.errors.push(notStored(kind, id, refusal));
  if (refusals > MOST_ERRORS) findings.errors.push(`${refusals - MOST_ERRORS} more cannot be stored`);
  return refusals;
}

export function notStored(kind: "resource" | "identity", id: string, refusal: string): string {
  return `the ${kind} ${quotedValue(id)} cannot be stored: ${refusal}`;
}
