import { stagedTable } from "../../clickhouse/staging.js";
import type { Statement } from "../../clickhouse/statement.js";
import { type Ledger, ledgers, lineKeySql, rowKeySql } from "../../domain/ledger.js";
import { type OtherCost, otherCosts } from "../../domain/other-costs.js";
import { ruledLines, type SplitLedger } from "../ledger.js";

/** Result of the check of a day. */
export interface DayCheck {
  readonly day: string;
  readonly lines: number;
  readonly rows: number;
  readonly lines_off: number;
  /** Sums by currency, formatted for people: `10.5 EUR, 3 USD`. Empty on a day without any. */
  readonly billed: string;
  readonly charged: string;
}

/**
 * The check before a publish that Σ chargebacks = Σ billing: returns for each day how many lines differ from the sum of
 * their rows, or have no row at all. It reads the stored columns, not intermediate results of the allocation statement.
 */
export function checkConservation(input: {
  ledger: SplitLedger;
  epoch: number;
  rulesHash: string;
  days: readonly string[];
  /** Compares the other costs of the bill as well. */
  hasOtherCosts: boolean;
}): Statement {
  const { ledger, epoch } = input;
  return compareWithBill({
    lines: `${stagedTable("billing", epoch)} WHERE day IN {days:Array(Date)}${ruledLines(ledger)}`,
    rows: `${stagedTable(ledger.name, epoch)} WHERE day IN {days:Array(Date)}`,
    ledger,
    costs: input.hasOtherCosts ? otherCosts : [],
    params: { days: input.days, rules_hash: input.rulesHash },
  });
}

/**
 * Finds days whose *published* topic attributions would not add up to the bill that is about to be published. Only
 * lines of product types with attributions on the day count, because the rules of that time are no longer known.
 */
export function checkPublishedAttributions(input: { epoch: number; days: readonly string[] }): Statement {
  const attributed = "SELECT day, product_type FROM topic_attributions WHERE day IN {days:Array(Date)}";
  return compareWithBill({
    lines: `${stagedTable("billing", input.epoch)} WHERE day IN {days:Array(Date)} AND (day, product_type) IN (${attributed})`,
    rows: "topic_attributions WHERE day IN {days:Array(Date)}",
    ledger: ledgers.topic_attributions,
    costs: [],
    params: { days: input.days },
  });
}

function compareWithBill(input: {
  lines: string;
  rows: string;
  ledger: Ledger;
  /** Further costs of lines and rows. */
  costs: readonly OtherCost[];
  params: Statement["params"];
}): Statement {
  const { costs } = input;
  const isOff = ["line_billed != line_charged", ...costs.map((name) => `off_${name} != 0`)].join(" OR ");
  // NULL counts as 0, so that a row without a part of a cost makes its line differ.
  const differences = costs.map((name) => `, sum(cost_${name}) AS off_${name}`).join("");
  const ofLines = costs.map((name) => `, sum(${name}) AS cost_${name}`).join("");
  const ofRows = costs.map((name) => `, -sum(ifNull(${name}, toDecimal128(0, 12)))`).join("");
  return {
    query: `
SELECT toString(day) AS day, toUInt64(sum(billed_lines)) AS lines, toUInt64(sum(row_count)) AS rows, toUInt64(sum(off)) AS lines_off,
  ${amountsText("billed")} AS billed, ${amountsText("charged")} AS charged
FROM (
  SELECT day, currency, sum(line_billed) AS billed, sum(line_charged) AS charged,
    countIf(line_lines > 0) AS billed_lines, sum(line_rows) AS row_count,
    countIf(${isOff} OR line_lines = 0 OR line_rows = 0) AS off
  FROM (
    SELECT toDate(timestamp, 'UTC') AS day, currency, sum(billed) AS line_billed, sum(charged) AS line_charged,
      sum(lines) AS line_lines, sum(n) AS line_rows${differences}
    FROM (
      SELECT ${lineKeySql(input.ledger)}, sum(total_cost) AS billed, toDecimal128(0, 12) AS charged, count() AS lines, toUInt64(0) AS n${ofLines}
      FROM ${input.lines}
      GROUP BY ${lineKeySql(input.ledger)}
      UNION ALL
      SELECT ${rowKeySql(input.ledger)}, toDecimal128(0, 12), sum(amount_hi) + sum(amount_lo), toUInt64(0), count()${ofRows}
      FROM ${input.rows}
      GROUP BY ${rowKeySql(input.ledger)}
    )
    GROUP BY ${lineKeySql(input.ledger)}
  )
  GROUP BY day, currency
)
GROUP BY day ORDER BY day`,
    params: input.params,
  };
}

/** Formats the sums of a day by currency as one text: `10.5 EUR, 3 USD`. */
function amountsText(column: string): string {
  return `arrayStringConcat(arrayMap(sum -> concat(toString(sum.2), ' ', sum.1), arraySort(groupArray((toString(currency), ${column})))), ', ')`;
}
