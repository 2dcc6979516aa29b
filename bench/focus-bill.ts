/**
 * Makes a month's bill in FOCUS 1.2, as Parquet and as CSV, and the usage of its clusters. The engine makes it; the
 * same size gives the same bill. One line in fifty is of a cluster that teams share; the others carry the tag of their
 * team. A resource keeps its account, team and service, and has some 50 lines in the month.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { literal } from "../src/clickhouse/sql-text.js";

export const bill = {
  days: 30,
  teams: 50,
  clusters: 20,
  linesOfResource: 50,
  skus: 200,
  /** One line in this many is shared. */
  shared: 50,
  metric: "cpu_hours",
} as const;

type Kind = "text" | "decimal" | "instant" | "tags";

interface BillColumn {
  readonly name: string;
  readonly kind: Kind;
  readonly sql: string;
}

const hash = (name: string) => `cityHash64(number, ${literal(name)})`;
const isShared = `number % ${bill.shared} = 0`;
const day = `toDateTime64({first:Date}, 3, 'UTC') + toIntervalDay(number % ${bill.days})`;
const month = "toStartOfMonth({first:Date})";
/** The resource of a line, of as many as the bill has room for. */
const resource = `${hash("resource")} % {resources:UInt32}`;
const ofResource = (name: string) => `cityHash64(${resource}, ${literal(name)})`;
/** Each service has SKUs of its own. */
const sku = `5 * (${hash("sku")} % ${bill.skus / 5}) + ${ofResource("service")} % 5`;
const account = `toString(200000000000 + ${ofResource("account")} % 40)`;
const service = `['AmazonEC2', 'AmazonS3', 'AmazonRDS', 'AWSLambda', 'AmazonVPC'][1 + (${sku}) % 5]`;
const category = `['Compute', 'Storage', 'Databases', 'Compute', 'Networking'][1 + (${sku}) % 5]`;
const instance = `lower(hex(${resource}))`;
const quantity = `toDecimal64(1 + ${hash("quantity")} % 100000, 0) * toDecimal64('0.001', 3)`;
const price = `toDecimal64(1 + cityHash64(toUInt64(${sku})) % 9000000, 0) * toDecimal64('0.000001', 6)`;
const contracted = `${price} * toDecimal64('0.9', 1)`;
const isCommitted = `${hash("commitment")} % 5 = 0`;

const text = (name: string, sql: string): BillColumn => ({ name, kind: "text", sql });
const decimal = (name: string, sql: string): BillColumn => ({ name, kind: "decimal", sql });
const instant = (name: string, sql: string): BillColumn => ({ name, kind: "instant", sql });

export const billColumns: readonly BillColumn[] = [
  text("AvailabilityZone", `concat('eu-central-1', ['a', 'b', 'c'][1 + ${ofResource("zone")} % 3])`),
  decimal("BilledCost", `${quantity} * ${contracted}`),
  text("BillingAccountId", "'100000000001'"),
  text("BillingAccountName", "'Payer'"),
  text("BillingCurrency", "'USD'"),
  instant("BillingPeriodEnd", `toDateTime64(${month} + toIntervalMonth(1), 3, 'UTC')`),
  instant("BillingPeriodStart", `toDateTime64(${month}, 3, 'UTC')`),
  text("ChargeCategory", "'Usage'"),
  text("ChargeClass", "''"),
  text(
    "ChargeDescription",
    `concat('$', toString(${price}), ' per unit of ', ${service}, ' in EU (Frankfurt)')`,
  ),
  text("ChargeFrequency", "'Usage-Based'"),
  instant("ChargePeriodEnd", `${day} + toIntervalDay(1)`),
  instant("ChargePeriodStart", day),
  text("CommitmentDiscountCategory", `if(${isCommitted}, 'Spend', '')`),
  text(
    "CommitmentDiscountId",
    `if(${isCommitted}, concat('savingsplan/', toString(${hash("plan")} % 20)), '')`,
  ),
  text("CommitmentDiscountStatus", `if(${isCommitted}, 'Used', '')`),
  text("CommitmentDiscountType", `if(${isCommitted}, 'Compute Savings Plan', '')`),
  decimal("ConsumedQuantity", quantity),
  text("ConsumedUnit", "'Hours'"),
  decimal("ContractedCost", `${quantity} * ${contracted}`),
  decimal("ContractedUnitPrice", contracted),
  decimal("EffectiveCost", `${quantity} * ${contracted}`),
  text("InvoiceIssuerName", "'Amazon Web Services, Inc.'"),
  decimal("ListCost", `${quantity} * ${price}`),
  decimal("ListUnitPrice", price),
  text("PricingCategory", `if(${isCommitted}, 'Committed', 'Standard')`),
  decimal("PricingQuantity", quantity),
  text("PricingUnit", "'Hours'"),
  text("ProviderName", "'AWS'"),
  text("PublisherName", "'Amazon Web Services, Inc.'"),
  text("RegionId", "'eu-central-1'"),
  text("RegionName", "'EU (Frankfurt)'"),
  text(
    "ResourceId",
    `if(${isShared}, concat('cluster-', toString(intDiv(number, ${bill.shared}) % ${bill.clusters})), concat('arn:aws:ec2:eu-central-1:', ${account}, ':instance/i-', ${instance}))`,
  ),
  text("ResourceName", `concat('host-', ${instance})`),
  text("ResourceType", "'Instance'"),
  text("ServiceCategory", category),
  text("ServiceName", service),
  text("SkuId", `concat('SKU-', toString(${sku}))`),
  text("SkuPriceId", `concat('SKU-', toString(${sku}), '.JRTCKXETXF')`),
  text("SubAccountId", account),
  text("SubAccountName", `concat('account ', ${account})`),
  {
    name: "Tags",
    kind: "tags",
    sql: `if(${isShared}, map('shared', 'yes'), map('team', concat('team-', toString(${ofResource("team")} % ${bill.teams})), 'environment', ['prod', 'test'][1 + ${ofResource("environment")} % 2]))`,
  },
  text("x_Operation", "'RunInstances'"),
  text("x_ServiceCode", service),
];

export const formats = ["Parquet", "CSV"] as const;
export type BillFormat = (typeof formats)[number];

export interface BillFiles {
  readonly files: Readonly<Record<BillFormat, string>>;
  readonly usage: string;
}

/** Returns the table function of a file, with the engine's name of the format and the types of the CSV's columns. */
export function billSource(format: BillFormat, file: string): string {
  if (format === "Parquet") return `file(${literal(file)}, 'Parquet')`;
  const types = {
    text: "String",
    decimal: "Decimal(38, 12)",
    instant: "DateTime64(3, ''UTC'')",
    tags: "String",
  };
  const structure = billColumns.map(({ name, kind }) => `${name} ${types[kind]}`).join(", ");
  return `file(${literal(file)}, 'CSVWithNames', '${structure}')`;
}

const written: Readonly<Record<BillFormat, (column: BillColumn) => string>> = {
  Parquet: ({ sql }) => sql,
  CSV: ({ kind, sql }) => {
    if (kind === "instant") return `formatDateTime(${sql}, '%Y-%m-%dT%H:%i:%SZ', 'UTC')`;
    return kind === "tags" ? `toJSONString(${sql})` : sql;
  },
};

/** @param first the first of the days, `YYYY-MM-DD` */
export async function makeBill(
  client: ClickHouseClient,
  { files, usage }: BillFiles,
  { lines, first }: { readonly lines: number; readonly first: string },
): Promise<void> {
  const settings = {
    engine_file_truncate_on_insert: 1,
    output_format_parquet_compression_method: "snappy",
    output_format_parquet_string_as_string: 1,
  } as const;
  const make = async (file: string, format: string, select: string) =>
    await client.command({
      query: `INSERT INTO FUNCTION file(${literal(file)}, ${literal(format)}) ${select}`,
      query_params: { first, resources: Math.max(1, Math.floor(lines / bill.linesOfResource)) },
      clickhouse_settings: settings,
    });
  for (const format of formats) {
    const columns = billColumns.map((column) => `${written[format](column)} AS ${column.name}`).join(",\n");
    const name = format === "CSV" ? "CSVWithNames" : format;
    await make(files[format], name, `SELECT ${columns} FROM numbers(${lines})`);
  }
  await make(
    usage,
    "CSVWithNames",
    `SELECT {first:Date} + day AS date, ${literal(bill.metric)} AS metric, concat('cluster-', toString(cluster)) AS resource_id,
      concat('team-', toString(team)) AS identity_id, 1 + cityHash64(day, cluster, team) % 1000 AS quantity
      FROM (SELECT number % ${bill.days} AS day, intDiv(number, ${bill.days}) % ${bill.clusters} AS cluster,
        intDiv(number, ${bill.days * bill.clusters}) AS team FROM numbers(${bill.days * bill.clusters * bill.teams}))`,
  );
}
