/**
 * The metric families of a tenant's page for Prometheus, as statements whose results are its lines. The stores write
 * the text, so no row passes through JavaScript. Amounts are summed by all labels of their family, so that no series
 * appears twice.
 */
import type { Statement } from "../../clickhouse/statement.js";
import type { Pipeline } from "../../config/settings/emitters.js";
import type { PgStatement as PostgresStatement } from "../../postgres/statement.js";

interface Family {
  readonly name: string;
  readonly help: string;
}

interface AmountFamily extends Family {
  readonly facts: "chargebacks" | "billing" | "topic_attributions";
  readonly labels: readonly string[];
  readonly amount: string;
}

const exact = "sum(amount_hi) + sum(amount_lo)";

export const amountFamilies: Readonly<
  Record<Extract<Pipeline, "chargeback" | "billing" | "topic_attribution">, AmountFamily>
> = {
  chargeback: {
    name: "chargehouse_chargeback_amount",
    help: "Cost of a day that an identity pays.",
    facts: "chargebacks",
    labels: [
      "tenant_id",
      "ecosystem",
      "identity_id",
      "resource_id",
      "product_type",
      "cost_type",
      "allocation_method",
      "currency",
    ],
    amount: exact,
  },
  billing: {
    name: "chargehouse_billing_amount",
    help: "Cost of a day as billed.",
    facts: "billing",
    labels: ["tenant_id", "ecosystem", "resource_id", "product_type", "product_category", "currency"],
    amount: "sum(total_cost)",
  },
  topic_attribution: {
    name: "chargehouse_topic_attribution_amount",
    help: "Cost of a day that a topic of Kafka caused.",
    facts: "topic_attributions",
    labels: [
      "tenant_id",
      "ecosystem",
      "env_id",
      "cluster_resource_id",
      "topic_name",
      "product_category",
      "product_type",
      "attribution_method",
      "currency",
    ],
    amount: exact,
  },
};

interface EntityFamily extends Family {
  readonly table: "resources" | "identities";
  readonly id: "resource_id" | "identity_id";
  readonly type: "resource_type" | "identity_type";
}

export const entityFamilies: Readonly<Record<Extract<Pipeline, "resource" | "identity">, EntityFamily>> = {
  resource: {
    name: "chargehouse_resource_active",
    help: "1 for each resource that exists now.",
    table: "resources",
    id: "resource_id",
    type: "resource_type",
  },
  identity: {
    name: "chargehouse_identity_active",
    help: "1 for each identity that exists now.",
    table: "identities",
    id: "identity_id",
    type: "identity_type",
  },
};

/** Shows the day of the amounts. They have no timestamps, since Prometheus rejects samples that are hours old. */
export const newestDayFamily: Family = {
  name: "chargehouse_newest_day_timestamp_seconds",
  help: "Beginning of the newest day whose amounts are shown.",
};

/** Counts the provisional days among those shown, so that a user knows whether the amounts may still change. */
export const provisionalFamily: Family = {
  name: "chargehouse_shown_provisional_dates",
  help: "Number of shown days that miss data and may still change.",
};

export function familyHead({ name, help }: Family): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`;
}

/** Escapes a backslash, a quote and a line feed, as the exposition format requires. */
export function labelText(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

const [backslash, quote, lineFeed] = [
  String.raw`'\\', '\\\\'`,
  String.raw`'"', '\\"'`,
  String.raw`'\n', '\\n'`,
];

/** Returns the lines in the order of their labels. With several days, each amount has a `date` label. */
export function amountLines(family: AmountFamily, days: readonly string[], dated: boolean): Statement {
  const { name, facts, labels, amount } = family;
  const shown = dated ? [...labels, "date"] : labels;
  const label = (column: string) =>
    `'${column}="', replaceAll(replaceAll(replaceAll(${column}, ${backslash}), ${quote}), ${lineFeed}), '"'`;
  const read = [
    ...labels.map((column) => `toString(${column}) AS ${column}`),
    ...(dated ? ["toString(day) AS date"] : []),
  ];
  return {
    query: `
SELECT concat('${name}{', ${shown.map(label).join(", ',', ")}, '} ', toString(amount)) AS line
FROM (
  SELECT ${read.join(", ")}, ${amount} AS amount
  FROM ${facts}
  WHERE day IN {days:Array(Date)}
  GROUP BY ${shown.join(", ")}
)
ORDER BY ${shown.join(", ")}
FORMAT CustomSeparated`,
    params: { days },
  };
}

/** Returns a chunk of lines in the order of ids: one row `{lines, last}`. `last` is null if there are no more. */
export function entityLines(
  family: EntityFamily,
  tenantName: string,
  after: string,
  atMost: number,
): PostgresStatement {
  const { name, table, id, type } = family;
  const label = (column: string) =>
    `'${column}="', replace(replace(replace(${column}, E'\\\\', E'\\\\\\\\'), '"', E'\\\\"'), E'\\n', E'\\\\n'), '"'`;
  const labels = ["tenant_id", "ecosystem", id, type].map(label).join(", ',', ");
  return {
    query: `
SELECT coalesce(string_agg(line, '' ORDER BY id), '') AS lines, CASE WHEN count(*) = $3 THEN max(id) END AS last
FROM (
  SELECT ${id} AS id, concat('${name}{', ${labels}, E'} 1\\n') AS line
  FROM ${table}
  WHERE tenant_name = $1 AND deleted_at IS NULL AND ${id} > $2
  ORDER BY ${id}
  LIMIT $3
) AS piece`,
    params: [tenantName, after, atMost],
  };
}
