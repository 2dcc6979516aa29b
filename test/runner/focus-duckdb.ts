/** Reads FOCUS files with DuckDB as a reference that shares no code with our reader. */
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type { Test } from "tap";

/** Names of a column over the versions, the newest first. */
const named = {
  effective: ["EffectiveCost", "AmortizedCost"],
  billed: ["BilledCost"],
  list: ["ListCost"],
  currency: ["BillingCurrency"],
  category: ["ChargeCategory", "ChargeType"],
  start: ["ChargePeriodStart"],
} as const;

export async function openDuckDb(t: Test): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  t.teardown(() => {
    connection.closeSync();
    instance.closeSync();
  });
  return connection;
}

export interface ReadBill {
  readonly files: readonly string[];
  /** Currency of lines without one. */
  readonly currency: string | undefined;
}

/**
 * Returns one text `currency|category|day|effective|billed|list` for each, in order; costs with 12 places. Lines
 * without an ISO date, a currency or an effective cost are not charged and left out.
 */
export async function sumsByDuckDb(
  connection: DuckDBConnection,
  { files, currency }: ReadBill,
): Promise<string[]> {
  const parts: string[] = [];
  for (const file of files) {
    const path = `'${file.replaceAll("'", "''")}'`;
    const from = file.endsWith(".parquet")
      ? `read_parquet(${path})`
      : `read_csv(${path}, header = true, all_varchar = true, delim = ',', quote = '"', escape = '"', max_line_size = 10000000)`;
    const has = (await rowsOf(connection, `DESCRIBE SELECT * FROM ${from}`)).map(([name = ""]) =>
      name.toLowerCase(),
    );
    const text = (names: readonly string[]) => {
      const name = names.find((each) => has.includes(each.toLowerCase()));
      if (name === undefined) return "NULL";
      const value = `CAST("${name}" AS VARCHAR)`;
      return `CASE WHEN lower(${value}) IN ('', 'null', '\\n', 'n/a') THEN NULL ELSE ${value} END`;
    };
    const cost = (names: readonly string[]) => `TRY_CAST(${text(names)} AS DECIMAL(38, 12))`;
    const start = text(named.start);
    parts.push(`SELECT
      coalesce(${text(named.currency)}, ${currency === undefined ? "NULL" : `'${currency}'`}) AS currency,
      coalesce(${text(named.category)}, '') AS category,
      CASE WHEN regexp_matches(${start}, '^\\d{4}-\\d\\d-\\d\\d')
        THEN CAST(TRY_CAST(regexp_replace(${start}, '(T\\d\\d:\\d\\d)Z$', '\\1:00Z') AS TIMESTAMP) AS DATE) END AS day,
      ${cost(named.effective)} AS effective, ${cost(named.billed)} AS billed, ${cost(named.list)} AS list
      FROM ${from}`);
  }
  const rows = await rowsOf(
    connection,
    `SELECT currency, category, CAST(day AS VARCHAR), ${(["effective", "billed", "list"] as const)
      .map((cost) => `CAST(CAST(sum(coalesce(${cost}, 0)) AS DECIMAL(38, 12)) AS VARCHAR)`)
      .join(", ")}
    FROM (${parts.join(" UNION ALL ")})
    WHERE day IS NOT NULL AND effective IS NOT NULL AND regexp_full_match(currency, '[A-Z]{3}')
    GROUP BY ALL ORDER BY 1, 2, 3`,
  );
  return rows.map((row) => row.join("|"));
}

async function rowsOf(connection: DuckDBConnection, sql: string): Promise<readonly string[][]> {
  const rows = await (await connection.run(sql)).getRowsJson();
  return rows.map((row) => row.map(String));
}
