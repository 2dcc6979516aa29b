/**
 * SQL that reads one column of a FOCUS file into its column of the landing table: from its text, or in the type that
 * the file stores.
 */
import { identifier } from "../../../../clickhouse/sql-text.js";
import { plain, writtenText } from "../../../../focus/index.js";
import type { LandingColumn, LandingKind } from "./landing-columns.js";
import {
  areTags,
  given,
  instantColumn,
  instantInRange,
  isPlain,
  isRounded,
  mapPairs,
  stored,
  tagMap,
  tagPairs,
} from "./line-sql.js";

/** An expression and its name. Later ones of a statement may use earlier ones. */
export type Named = readonly [sql: string, name: string];

export interface ColumnSql {
  /** Expressions over the columns of the file. */
  readonly direct: readonly Named[];
  /** Expressions over `direct`. */
  readonly derived: readonly Named[];
  readonly value: string;
  /** The text as written. Empty for null. */
  readonly text: string;
  /** Condition: the value could not be read. Undefined if every value can be read. */
  readonly unread?: string;
  /** Condition: digits were lost. Undefined if none can be lost. */
  readonly rounded?: string;
}

/** Returns a column of the file as text, empty for null. */
export function columnText(column: string, type: string | null): string {
  return given(type === null ? column : `ifNull(${writtenText(column, type)}, '')`);
}

/**
 * @param column SQL of the file's column
 * @param type as `SourceColumn.type`
 */
export function columnSql({ name, kind }: LandingColumn, column: string, type: string | null): ColumnSql {
  const value = identifier(`value ${name}`);
  if (isReadDirectly(kind, plain(type ?? ""))) return fromType({ kind, value, column });
  const text = identifier(`text ${name}`);
  const direct: readonly Named[] = [[columnText(column, type), text]];
  const unread = `${text} != '' AND isNull(${value})`;
  switch (kind) {
    case "cost":
    case "number": {
      const exact = identifier(`plain ${name}`);
      const derived: readonly Named[] = [
        [isPlain(text), exact],
        [stored(text, exact), value],
      ];
      return { direct, derived, value, text, unread, rounded: isRounded(text, exact) };
    }
    case "instant":
      return { direct, derived: [[instantColumn(text), value]], value, text, unread };
    case "tags": {
      const derived: readonly Named[] = [
        [areTags(text), "are_tags"],
        [`if(are_tags AND ${text} NOT IN ('', '{}', '[]'), ${tagPairs(text)}, [])`, "written_pairs"],
        ...tagsOfPairs(value),
      ];
      return { direct, derived, value, text, unread: "NOT are_tags" };
    }
    default:
      return { direct, derived: [], value: isCurrency(name) ? `upper(trimBoth(${text}))` : text, text };
  }
}

function isCurrency(name: string): boolean {
  return name === "BillingCurrency" || name === "PricingCurrency";
}

/** Returns true if values of the type are taken as they are, without going through text. */
function isReadDirectly(kind: LandingKind, type: string): boolean {
  if (kind === "instant") return /^DateTime/.test(type);
  if (kind === "tags") return /^Map\((LowCardinality\()?String\)?, (Nullable\()?String\)?\)$/.test(type);
  if (kind !== "cost" && kind !== "number") return false;
  if (/^U?Int(8|16|32|64)$/.test(type)) return true;
  const [, digits = 0, places = 0] = (/^Decimal\((\d+), (\d+)\)$/.exec(type) ?? []).map(Number);
  return digits > 0 && places <= 12 && digits - places <= 26;
}

function fromType({ kind, value, column }: { kind: LandingKind; value: string; column: string }): ColumnSql {
  const text = `ifNull(toString(${column}), '')`;
  if (kind === "instant")
    return {
      direct: [[instantInRange(column), value]],
      derived: [],
      value,
      text,
      unread: `isNotNull(${column}) AND isNull(${value})`,
    };
  if (kind === "tags")
    return { direct: [[mapPairs(column), "written_pairs"]], derived: tagsOfPairs(value), value, text };
  return { direct: [[`CAST(${column} AS Nullable(Decimal(38, 12)))`, value]], derived: [], value, text };
}

function tagsOfPairs(value: string): readonly Named[] {
  return [
    ["arrayMap(p -> (trimBoth(p.1), p.2), written_pairs)", "tag_pairs"],
    [tagMap("tag_pairs"), value],
  ];
}
