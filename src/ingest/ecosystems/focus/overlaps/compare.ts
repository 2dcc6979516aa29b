/**
 * Finds charges that two bills have in common, by their lines: a draft beside its final version, two exports of one
 * account, one bill in two versions of FOCUS. A bill is a file, or all files that one manifest names, because exporters
 * guarantee that those are disjoint.
 *
 * Lines are compared by what they charge and its quantity, not by their costs, because a bill may be rated again. Only
 * bills with lines of the same billing account and billing period are compared, day by day; large ones by a sample.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { literal } from "../../../../clickhouse/sql-text.js";
import { readRows } from "../../../../clickhouse/statement.js";
import { earliest, latest } from "../../../../common/days.js";
import { longStatement } from "../../../csv/header.js";
import { isCounted, type PartlyCounted } from "../lines/counted.js";
import type { CostColumn } from "../load/landing-columns.js";
import { PERIOD, periodNumber } from "../load/period.js";
import type { PeriodKey } from "../load/summary.js";

/** A delivery whose lines are in the store. The position of a file is its number. */
export interface Comparable extends PartlyCounted {
  readonly lines: number;
  readonly files: readonly {
    readonly name: string;
    /** The export whose manifest names the file. */
    readonly unit?: string | null | undefined;
    readonly sha256?: string | null | undefined;
    readonly periods: readonly PeriodKey[];
  }[];
}

/** One of two bills that overlap. */
export interface Side {
  readonly delivery: string;
  /** Name of the export or the file. */
  readonly name: string;
  /** Numbers of its files in the delivery. */
  readonly files: readonly number[];
  /** Its first and last day in the period. */
  readonly first_day: string;
  readonly last_day: string;
}

export interface Overlap {
  readonly account: string;
  readonly period: string;
  /** The bill of the delivery that was loaded later. */
  readonly side: Side;
  readonly other: Side;
  /** True if both are files with the same bytes. */
  readonly same_bytes: boolean;
  readonly days: readonly string[];
  /** Amounts that `side` charges on these days, by currency. */
  readonly amounts: readonly { readonly currency: string; readonly amount: string }[];
}

/** A day counts as shared if both bills have at least this share of the lines of the smaller one. */
const SHARE = 0.5;
/** Number of lines that are compared of the largest bill of an account and period. */
const SAMPLE_LINES = 100_000;
/**
 * Bills that are recorded for one line. If more share it, some pairs are found, which is enough to hold all of them.
 */
const MOST_OWNERS = 20;

/** More files than a delivery can have, so that delivery and file fit into one number. */
const MOST_FILES = 10_000_000n;

/** Identifies a charge. Exports in several versions of FOCUS agree in it; different parts of one bill do not. */
const KEY = `cityHash64(ifNull(ChargePeriodStart, toDateTime(0, 'UTC')), SubAccountId, ResourceId, if(ResourceId = '', RegionId, ''),
  ServiceName, SkuId, if(SkuId = '', ChargeDescription, ''), ChargeCategory, ChargeClass,
  toString(round(ifNull(coalesce(ConsumedQuantity, PricingQuantity), 0), 6)))`;

interface Unit {
  readonly delivery: string;
  readonly name: string;
  readonly files: number[];
  /** Digest of each file. Undefined if it is not known. */
  readonly digests: (string | undefined)[];
}

/** Finds what `delivery` shares with the others, and what its own bills share with each other. */
export async function compareBills(
  client: ClickHouseClient,
  delivery: Comparable,
  others: readonly Comparable[],
  cost: CostColumn,
  signal: AbortSignal,
): Promise<Overlap[]> {
  const found: Overlap[] = [];
  for (const [key, units] of groupsOf([delivery, ...others])) {
    const own = units.filter((unit) => unit.delivery === delivery.delivery_id);
    if (own.length === 0 || units.length === 1) continue;
    const [account, period] = JSON.parse(key) as PeriodKey;
    // Lines without a date are charged to no day.
    if (period === "") continue;
    const compared = [delivery, ...others].filter(({ delivery_id }) =>
      units.some((unit) => unit.delivery === delivery_id),
    );
    const group = { account, period, units, compared };
    for (const pair of await pairsOf(client, group, delivery.delivery_id, signal))
      found.push({ ...pair, amounts: await amountsOf(client, pair, cost, signal) });
  }
  return found;
}

/** Bills by account and period. */
function groupsOf(deliveries: readonly Comparable[]): Map<string, Unit[]> {
  const groups = new Map<string, Unit[]>();
  for (const { delivery_id: delivery, files } of deliveries)
    for (const [at, { name, unit, sha256, periods }] of files.entries())
      for (const key of periods) {
        const text = JSON.stringify(key);
        const units = groups.get(text) ?? [];
        groups.set(text, units);
        const title = unit ?? name;
        const known = units.find((each) => each.delivery === delivery && each.name === title);
        if (known === undefined)
          units.push({ delivery, name: title, files: [at], digests: [sha256 ?? undefined] });
        else {
          known.files.push(at);
          known.digests.push(sha256 ?? undefined);
        }
      }
  return groups;
}

interface Group {
  readonly account: string;
  readonly period: string;
  readonly units: readonly Unit[];
  readonly compared: readonly Comparable[];
}

async function pairsOf(
  client: ClickHouseClient,
  { account, period, units, compared }: Group,
  newest: string,
  signal: AbortSignal,
): Promise<Omit<Overlap, "amounts">[]> {
  const lines = Math.max(...compared.map((each) => each.lines));
  const every = 2 ** Math.max(0, Math.ceil(Math.log2(lines / SAMPLE_LINES)));
  const numbers = (values: readonly number[]) => `[${values.map(Number).join(", ")}]`;
  // Include superseded lines: other settings may charge them tomorrow.
  const notRetired = compared.map((each) => ({ ...each, superseded: [] }));
  const unitFiles = units.flatMap((unit, at) => unit.files.map((file) => ({ ...unit, file, at })));
  const fileNumber = (delivery: string, file: number) => BigInt(delivery) * MOST_FILES + BigInt(file);
  const keys = unitFiles.map((each) => fileNumber(each.delivery, each.file)).join(", ");
  const unitOf = `transform(toUInt64(delivery * ${MOST_FILES} + file), [${keys}], ${numbers(unitFiles.map(({ at }) => at))}, -1)`;
  const newestDays = `charge_day BETWEEN (SELECT min(charge_day) FROM focus_lines WHERE ${sameAccountAndPeriod} AND delivery = ${Number(newest)})
    AND (SELECT max(charge_day) FROM focus_lines WHERE ${sameAccountAndPeriod} AND delivery = ${Number(newest)})`;
  const query = `SELECT pair.1 AS a, pair.2 AS b, toString(day) AS day, currency, toUInt32(count()) AS keys FROM (
      SELECT day, currency, arraySort(groupUniqArray(${MOST_OWNERS})(unit)) AS owners,
        arrayJoin(arrayFlatten(arrayMap(x -> arrayMap(y -> (x, y), arrayFilter(y -> y >= x, owners)), owners))) AS pair
      FROM (SELECT toInt32(${unitOf}) AS unit, charge_day AS day, BillingCurrency AS currency, ${KEY} AS key FROM focus_lines
        WHERE ${sameAccountAndPeriod} AND delivery IN (${compared.map(({ delivery_id }) => Number(delivery_id)).join(", ")})
          AND ${newestDays} AND ${isCounted(notRetired)} AND key % ${every} = 0 AND unit >= 0)
      GROUP BY day, currency, key)
    GROUP BY a, b, day, currency ORDER BY a, b, day`;
  const params = { account, period: periodNumber(period) };
  const rows = await readRows<{ a: number; b: number; day: string; currency: string; keys: number }>(
    client,
    { query, params },
    signal,
    longStatement,
  );
  const ownCounts = new Map<string, number>();
  const shared = new Map<string, Set<string>>();
  const ranges = new Map<number, { first_day: string; last_day: string }>();
  for (const { a, b, day, currency, keys } of rows) {
    if (a !== b) continue;
    ownCounts.set(`${a} ${day} ${currency}`, Number(keys));
    const { first_day, last_day } = ranges.get(a) ?? { first_day: day, last_day: day };
    ranges.set(a, {
      first_day: earliest(day, first_day),
      last_day: latest(day, last_day),
    });
  }
  for (const { a, b, day, currency, keys } of rows) {
    const smaller = Math.min(...[a, b].map((unit) => ownCounts.get(`${unit} ${day} ${currency}`) ?? 0));
    const ofNewest = [a, b].some((at) => units[at]?.delivery === newest);
    if (a === b || !ofNewest || Number(keys) < smaller * SHARE) continue;
    shared.set(`${a} ${b}`, (shared.get(`${a} ${b}`) ?? new Set()).add(day));
  }
  return [...shared].flatMap(([pair, days]) => {
    const sides = pair.split(" ").map((at): (Side & Pick<Unit, "digests">) | undefined => {
      const unit = units[Number(at)];
      const range = ranges.get(Number(at));
      return unit === undefined || range === undefined ? undefined : { ...unit, ...range };
    });
    const [side, other] = sides;
    if (side === undefined || other === undefined) return [];
    const same_bytes =
      !side.digests.includes(undefined) && side.digests.toString() === other.digests.toString();
    return [
      {
        account,
        period,
        side: withoutDigests(side),
        other: withoutDigests(other),
        same_bytes,
        days: [...days].sort(),
      },
    ];
  });
}

function withoutDigests({ delivery, name, files, first_day, last_day }: Side): Side {
  return { delivery, name, files, first_day, last_day };
}

const sameAccountAndPeriod = `BillingAccountId = {account:String} AND ${PERIOD} = {period:UInt32}`;

async function amountsOf(
  client: ClickHouseClient,
  { account, period, side, days }: Omit<Overlap, "amounts">,
  cost: CostColumn,
  signal: AbortSignal,
): Promise<Overlap["amounts"]> {
  const query = `SELECT BillingCurrency AS currency, toString(sum(toDecimal256(ifNull(${cost}, 0), 12))) AS amount FROM focus_lines
    WHERE ${sameAccountAndPeriod} AND delivery = ${Number(side.delivery)} AND file IN (${side.files.map(Number).join(", ")})
      AND charge_day IN (${days.map((day) => `toDate(${literal(day)})`).join(", ")})
    GROUP BY currency ORDER BY currency`;
  const params = { account, period: periodNumber(period) };
  return await readRows(client, { query, params }, signal);
}
