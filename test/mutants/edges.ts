import { mutantsOf, template } from "./mutant.js";

const shrinkage = ["test/ingest/focus/shrinkage.test.ts"];
const texts = ["test/ingest/focus/line-sql.test.ts"];
const conditions = ["test/ingest/conditions.test.ts"];
const weights = ["test/ingest/derive-weights.test.ts"];
const maps = ["test/config/identity-map.test.ts", "test/runner/changed-map.test.ts"];
const newest = ["test/ingest/newest-run.test.ts"];
const totals = ["test/query/aggregate-result.test.ts"];
const buckets = ["test/query/bucket.test.ts"];
const cells = ["test/query/csv-cell.test.ts"];
const conservation = ["test/allocate/check-conservation.test.ts"];
const decimals = ["test/common/exact-decimal.test.ts"];
const crash = ["test/runner/publish-crash.test.ts"];
const kept = ["test/http/response-cache.test.ts", "test/http/revalidation.test.ts"];
const tags = ["test/http/tags.test.ts"];

/** Mutants of edges of amounts, days and responses: exact bounds, and values that must not change. */
export const edgeMutants = [
  ...mutantsOf("src/ingest/ecosystems/focus/deliveries/shrinkage.ts", shrinkage, [
    [
      "a bill that keeps exactly half of its cost waits",
      "remaining < amount * required",
      "remaining <= amount * required",
    ],
    ["all lines may go", "loaded.lines < was * required", "loaded.lines < 0"],
    ["bills of a month that goes on are held", "month < today.slice(0, 7)", "month <= today.slice(0, 7)"],
    ["costs of one currency stand for all", "each.currency === currency", 'each.currency !== ""'],
    ["refunds may vanish", "Math.abs(Number(before))", "Number(before)"],
  ]),
  ...mutantsOf("src/ingest/ecosystems/focus/load/line-sql.ts", texts, [
    [
      "an amount is cut at its 12th place",
      template("CAST(round(@{exact(text)}, 12) AS"),
      template("CAST(@{exact(text)} AS"),
    ],
    ["a 13th place is cut", "{1,12})?)?$", "{1,13})?)?$"],
    ["an instant before 1990 is stored", "year(1990)", "year(1980)"],
  ]),
  ...mutantsOf("src/focus/iso-date.ts", texts, [
    ["dates without a zone are those of New York", "3, 'UTC')", "3, 'America/New_York')"],
  ]),
  ...mutantsOf("src/ingest/configured/condition-sql.ts", conditions, [
    [
      "`above` takes what is equal",
      template("@{columnOf(name, columns)} > @{decimal(above)}"),
      template("@{columnOf(name, columns)} >= @{decimal(above)}"),
    ],
    [
      "`below` takes what is equal",
      template("@{columnOf(name, columns)} < @{decimal(below)}"),
      template("@{columnOf(name, columns)} <= @{decimal(below)}"),
    ],
  ]),
  ...mutantsOf("src/clickhouse/sql-text.ts", conditions, [
    ["an underscore in a glob is any character", "/[\\\\%_]/g", "/[\\\\%]/g"],
    ["a percent sign in a glob is any text", "/[\\\\%_]/g", "/[\\\\_]/g"],
  ]),
  ...mutantsOf("src/ingest/configured/derive-weights.ts", weights, [
    ["charges after the line's day weigh", "t -> t >= day AND toStartOfMonth(t)", "t -> toStartOfMonth(t)"],
    [
      "a staged day outside the window weighs as it is published as well",
      template(" AND day NOT IN (SELECT DISTINCT day FROM @{billing})"),
      "",
    ],
    [
      "a day that is staged without lines weighs as it is published",
      " AND day NOT IN {days:Array(Date)}",
      "",
    ],
  ]),
  ...mutantsOf("src/config/allocation/identity-map.ts", maps, [
    [
      "identities are not in the hash of a map",
      "return digestOf(entries)",
      "return digestOf(entries.map(([value]) => value))",
    ],
    ["the order of a map's lines is in its hash", ".sort(([a], [b]) => (a < b ? -1 : 1))", ""],
  ]),
  ...mutantsOf(
    "src/export/emitters/plan.ts",
    ["test/export/emitters/plan.test.ts"],
    [["a lost day is emitted over its file", "if (days.some(({ is_lost }) => is_lost)) return [];", ""]],
  ),
  ...mutantsOf("src/ingest/ecosystems/focus/sources/layouts/newest.ts", newest, [
    ["a time that only some runs state counts", "runs.every(", "runs.some("],
    [
      "the oldest run is the bill",
      "b.manifest.modified - a.manifest.modified",
      "a.manifest.modified - b.manifest.modified",
    ],
  ]),
  ...mutantsOf("src/query/chargebacks/aggregate-result.ts", totals, [
    [
      "buckets that were not read are not missed",
      "truncated: totalBuckets > buckets.length",
      "truncated: rows.length > buckets.length",
    ],
    [
      "totals are of the buckets in the response",
      "totals: readonly CurrencyTotals[] = totalsOf(rows),",
      "totals: readonly CurrencyTotals[] = totalsOf(rows.slice(0, bucketLimit)),",
    ],
    ["currencies are added up", "sums.filter((each) => each[0] === currency)", "sums"],
  ]),
  ...mutantsOf("src/query/time/bucket.ts", buckets, [
    ["weeks begin on Sunday", "`toMonday(", "`toStartOfWeek("],
    [
      "hours begin where the engine says",
      "hour: () => hourSql(),",
      template("hour: (instant) => `toStartOfHour(@{instant}, {timezone:String})`,"),
    ],
    ["the week around new year is of two years", "'%G-W%V'", "'%Y-W%V'"],
    ["zones west of Greenwich are east of it", template("if(@{SECONDS} < 0, '-', '+')"), "'+'"],
  ]),
  ...mutantsOf("src/query/csv-cell.ts", cells, [
    ["a quote ends its cell", template(`replaceAll(@{guarded}, '"', '""')`), template("@{guarded}")],
    [
      "a text that begins with a minus is a formula",
      "'^[=+@\\\\\\\\t\\\\\\\\r-]'",
      "'^[=+@\\\\\\\\t\\\\\\\\r]'",
    ],
  ]),
  ...mutantsOf("src/allocate/sql/check-conservation.ts", conservation, [
    ["a line of 0 without rows conserves", " OR line_rows = 0", ""],
    ["a row of 0 without a line conserves", " OR line_lines = 0", ""],
  ]),
  ...mutantsOf("src/common/exact-decimal.ts", decimals, [
    ["cents have no 0 before their point", '.padStart(places + 1, "0")', '.padStart(places, "0")'],
    ["places are not brought in line", "a.units * tenTo(scale - a.scale)", "a.units"],
  ]),
  ...mutantsOf("src/allocate/roll-forward.ts", crash, [
    ["a day whose bill is not staged is finished", "tables.every(", "tables.some("],
    ["a day without a bill is lost", "billing_lines === 0 || ", ""],
  ]),
  ...mutantsOf("src/http/plugins/response-cache.ts", kept, [
    ["a cached response outlives a publish", "    state.fingerprint,\n", ""],
  ]),
  ...mutantsOf("src/tags/bulk.ts", tags, [
    [
      "a bulk with override leaves the name as it is",
      "SET label_id = $4, created_by = $5",
      "SET created_by = $5",
    ],
    [
      "a bulk without override overrides",
      "input.override_existing ? await",
      "!input.override_existing ? await",
    ],
  ]),
];
