/**
 * How much of the bill carries each tag, by currency and product type. Shares are of amounts without their sign, so
 * that they are between 0 and 1, and a refund counts as much as a charge of its size. They are rounded down, so that 1
 * means everything.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../../clickhouse/statement.js";
import type { InstantRange } from "../../common/days.js";
import {
  type KeyAndProductRow,
  type KeyRow,
  linesByKeyAndProduct,
  linesByProduct,
  linesByTagKey,
  type ProductRow,
  type SummedLines,
} from "./coverage-sql.js";

/** Figures of the lines with the tag, and of all lines. Plain decimals of one currency. */
export interface Coverage {
  readonly tagged_line_count: number;
  readonly line_count: number;
  readonly tagged_amount: string;
  readonly amount: string;
  /** At most 6 decimal places; null if every line costs 0. */
  readonly share: string | null;
}

export interface KeyCoverage extends Coverage {
  readonly tag_key: string;
  readonly product_types: (Coverage & { readonly product_type: string })[];
  /** Product types beyond the largest; undefined if there are none. */
  readonly other_product_types?: Coverage;
}

export interface CurrencyCoverage {
  readonly currency: string;
  readonly line_count: number;
  readonly amount: string;
  /** Includes keys that are not listed. */
  readonly tag_key_count: number;
  readonly tag_keys: KeyCoverage[];
}

export async function readTagCoverage(
  client: ClickHouseClient,
  window: InstantRange,
  signal?: AbortSignal,
): Promise<{ currencies: CurrencyCoverage[] }> {
  const products = await readRows<ProductRow>(client, linesByProduct(window), signal);
  const keys = await readRows<KeyRow>(client, linesByTagKey(window), signal);
  const tagKeys = [...new Set(keys.map(({ tag_key }) => tag_key))];
  const shown = [...new Set(products.filter((row) => !row.is_rest).map((row) => row.product_type))];
  const tagged =
    tagKeys.length === 0
      ? []
      : await readRows<KeyAndProductRow>(client, linesByKeyAndProduct(window, tagKeys, shown), signal);
  const rowKey = ({ currency, product_type, is_rest }: ProductRow, key: string) =>
    JSON.stringify([currency, key, product_type, is_rest]);
  const taggedByKey = new Map(tagged.map((row) => [rowKey(row, row.tag_key), row]));
  const currencies = [...new Set(products.map(({ currency }) => currency))];
  return {
    currencies: currencies.map((currency) => {
      const currencyRows = products.filter((row) => row.currency === currency);
      const all = added(currency, currencyRows);
      const currencyKeys = keys.filter((row) => row.currency === currency);
      return {
        currency,
        line_count: all.lines,
        amount: all.net,
        tag_key_count: currencyKeys[0]?.tag_keys ?? 0,
        tag_keys: currencyKeys.map((key) => {
          const parts = currencyRows.map((row) => ({
            row,
            coverage: coverage(taggedByKey.get(rowKey(row, key.tag_key)), row),
          }));
          const rest = parts.find(({ row }) => row.is_rest);
          return {
            tag_key: key.tag_key,
            ...coverage(key, all),
            product_types: parts
              .filter(({ row }) => !row.is_rest)
              .map(({ row, coverage: of }) => ({ product_type: row.product_type, ...of })),
            ...(rest && { other_product_types: rest.coverage }),
          };
        }),
      };
    }),
  };
}

function coverage(tagged: SummedLines | undefined, all: SummedLines): Coverage {
  return {
    tagged_line_count: tagged?.lines ?? 0,
    line_count: all.lines,
    tagged_amount: tagged?.net ?? "0",
    amount: all.net,
    share: shareOf(tagged?.gross ?? "0", all.gross),
  };
}

/** Decimal places of the store's amounts. */
const PLACES = 12;
const SHARE_PLACES = 6;

function shareOf(part: string, whole: string): string | null {
  const all = units(whole);
  if (all === 0n) return null;
  return textOf((units(part) * 10n ** BigInt(SHARE_PLACES)) / all, SHARE_PLACES);
}

function added(currency: string, rows: readonly SummedLines[]): SummedLines {
  const sum = (field: "net" | "gross") =>
    textOf(
      rows.reduce((total, row) => total + units(row[field]), 0n),
      PLACES,
    );
  const lines = rows.reduce((total, row) => total + row.lines, 0);
  return { currency, lines, net: sum("net"), gross: sum("gross") };
}

/** Converts a plain decimal to units of its 12th decimal place. */
function units(text: string): bigint {
  const [whole = "", fraction = ""] = text.replace("-", "").split(".");
  const size = BigInt(whole + fraction.padEnd(PLACES, "0"));
  return text.startsWith("-") ? -size : size;
}

function textOf(value: bigint, places: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, "0");
  const fraction = digits.slice(-places).replace(/0+$/, "");
  const whole = digits.slice(0, -places);
  return `${value < 0n ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}
