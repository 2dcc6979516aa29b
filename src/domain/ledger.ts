/**
 * The two ledgers of a bill. Chargebacks divide it among identities. Topic attributions divide lines of some product
 * types among the topics of their cluster. Properties that more than one stage needs are declared here, once.
 */
import { UNALLOCATED } from "./allocation-rule.js";
import { columnsOf, factTableColumns } from "./fact-tables.js";
import { UNATTRIBUTED } from "./topic-rule.js";

export const ledgerNames = ["chargebacks", "topic_attributions"] as const;
export type LedgerName = (typeof ledgerNames)[number];

export interface Ledger {
  /** Also the name of its table in ClickHouse. */
  readonly name: LedgerName;
  /** Tables of the usage that its lines are divided by, and of the gaps in it. */
  readonly usage: "usage" | "topic_usage";
  readonly gaps: "usage_gaps" | "topic_usage_gaps";
  /** Column of the recipient, in the ledger's table and in the usage table. */
  readonly recipient: "identity_id" | "topic_name";
  /** The recipient of amounts that no recipient was found for. */
  readonly nobody: string;
  /** Column for the line's resource, in the ledger's table. */
  readonly resource: "resource_id" | "cluster_resource_id";
  /** Table of the published lines that are divided: the whole bill, or the attributed lines. */
  readonly lines: "billing" | "topic_attributions";
  /**
   * Table in Postgres with the state of its days, and its columns: number of rows, failed attempts to calculate the
   * day.
   */
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
  readonly billColumn: string;
  readonly rowColumn: string;
}

/**
 * Columns of a line that the rows of a ledger repeat. `key`: identifies a line. Lines that are equal in all of these
 * columns are divided as one. `same`: equal in all lines with the same key.
 */
export function lineColumns({ name, resource }: Ledger, line: "key" | "same"): LineColumn[] {
  return columnsOf("billing").flatMap(([billColumn, column]) => {
    const rowColumn = billColumn === "resource_id" ? resource : billColumn;
    return column.line === line && Object.hasOwn(factTableColumns[name], rowColumn)
      ? [{ billColumn, rowColumn }]
      : [];
  });
}

/** The key of a ledger's lines, as SQL columns of the bill. */
export function lineKeySql(ledger: Ledger): string {
  return lineColumns(ledger, "key")
    .map(({ billColumn }) => billColumn)
    .join(", ");
}

/** The key of a ledger's lines, as SQL columns of the ledger's rows. */
export function rowKeySql(ledger: Ledger): string {
  return lineColumns(ledger, "key")
    .map(({ rowColumn }) => rowColumn)
    .join(", ");
}
