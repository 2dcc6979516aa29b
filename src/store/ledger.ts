/**
 * The two ledgers that a bill is written into: it is split among identities, which makes chargebacks, and (only lines of some
 * product types) among the topics of their cluster. What more than one stage has to know about them is declared here, once.
 */
import { UNALLOCATED } from "../config/allocation-rule.js";
import { UNATTRIBUTED } from "../config/topic-rule.js";
import { columnsOf, factTableColumns } from "./fact-tables.js";

export const ledgerNames = ["chargebacks", "topic_attributions"] as const;
export type LedgerName = (typeof ledgerNames)[number];

export interface Ledger {
  /** Also of its table in ClickHouse. */
  readonly name: LedgerName;
  /** Tables of what its lines are split by, and of what could not be measured. */
  readonly usage: "usage" | "topic_usage";
  readonly gaps: "usage_gaps" | "topic_usage_gaps";
  /** Column of whoever gets a part, in its table and in the usage. */
  readonly recipient: "identity_id" | "topic_name";
  /** Recipient of what nobody was found for. */
  readonly nobody: string;
  /** Column of its table for the resource of the line. */
  readonly resource: "resource_id" | "cluster_resource_id";
  /** Table of the published lines that are split: all of the bill, or those that were attributed. */
  readonly lines: "billing" | "topic_attributions";
  /** Table of Postgres with the state of its days, and its columns: number of rows, failed attempts to calculate the day. */
  readonly state: "tracking_dates" | "topic_attribution_dates";
  readonly rows: "chargeback_rows" | "attribution_rows";
  readonly attempts: "allocation_attempts" | "attribution_attempts";
}

export const ledgers = {
  chargebacks: {
    name: "chargebacks",
    usage: "usage",
    gaps: "usage_gaps",
    recipient: "identity_id",
    nobody: UNALLOCATED,
    resource: "resource_id",
    lines: "billing",
    state: "tracking_dates",
    rows: "chargeback_rows",
    attempts: "allocation_attempts",
  },
  topic_attributions: {
    name: "topic_attributions",
    usage: "topic_usage",
    gaps: "topic_usage_gaps",
    recipient: "topic_name",
    nobody: UNATTRIBUTED,
    resource: "cluster_resource_id",
    lines: "topic_attributions",
    state: "topic_attribution_dates",
    rows: "attribution_rows",
    attempts: "attribution_attempts",
  },
} as const satisfies { readonly [Name in LedgerName]: Ledger & { readonly name: Name } };

interface LineColumn {
  readonly ofBill: string;
  readonly ofRow: string;
}

/**
 * Columns of a line that the rows of a ledger have too. `key`: what tells lines apart; those that are equal in all of it are one line,
 * and split as one. `same`: what all lines of a key have in common.
 */
export function lineColumns({ name, resource }: Ledger, line: "key" | "same"): LineColumn[] {
  return columnsOf("billing").flatMap(([ofBill, column]) => {
    const ofRow = ofBill === "resource_id" ? resource : ofBill;
    return column.line === line && Object.hasOwn(factTableColumns[name], ofRow) ? [{ ofBill, ofRow }] : [];
  });
}

/** The key of a ledger's lines, as columns of the bill. */
export function lineKeySql(ledger: Ledger): string {
  return lineColumns(ledger, "key")
    .map(({ ofBill }) => ofBill)
    .join(", ");
}

/** The same, as columns of the ledger's rows. */
export function rowKeySql(ledger: Ledger): string {
  return lineColumns(ledger, "key")
    .map(({ ofRow }) => ofRow)
    .join(", ");
}
