import { mutantsOf, template } from "./mutant.js";

const report = ["test/http/rules.test.ts"];
const worklist = ["test/http/worklist.test.ts"];
const coverage = ["test/http/tag-coverage.test.ts"];
const shares = ["test/query/focus-shares.test.ts"];
const lines = ["test/ingest/focus/charge-days.test.ts"];
const load = ["test/ingest/focus/load.test.ts"];
const expiry = ["test/ingest/focus/expiry.test.ts"];
const killed = ["test/ingest/focus/kill.test.ts"];
const zstd = ["test/ingest/unzstd.test.ts"];

const duplicates = ["test/ingest/focus/duplicates.test.ts"];
const overlaps = ["test/ingest/focus/overlaps.test.ts"];
const fields = ["test/ingest/focus/line-metadata.test.ts", "test/ingest/focus/charge-days.test.ts"];
const retired = ["test/postgres/retirement.test.ts"];

/** Mutants of bills of clouds: reading, rules, and exports. */
export const billMutants = [
  ...mutantsOf("src/ingest/csv/unzstd.ts", zstd, [
    ["a changed bit counts", "Number(hash.digest() & 0xffffffffn) !== checksum.readUInt32LE()", "false"],
    ["a frame may keep gigabytes", "window > LARGEST_WINDOW_BYTES", "false"],
    ["what is left of a cut frame counts", "if (bytes.length < length)", "if (length === 3)"],
    ["the file stays open when nobody wants more", "await source.close();", ""],
  ]),
  ...mutantsOf("src/ingest/ecosystems/focus/lines/billing-lines.ts", lines, [
    ["two equal lines stay two", "HAVING count() > 1", "HAVING count() > 2"],
  ]),
  ...mutantsOf("src/ingest/ecosystems/focus/lines/billing-lines.ts", fields, [
    [
      "fields of a line are not JSON",
      template("`,@{JSON.stringify(name)}:`"),
      template("`@{JSON.stringify(name)}:`"),
    ],
    ["columns of the bill's own are lost", 'customFields(same("custom_columns"))', "\"''\""],
    ["a statement leaves out the last day", "addDays(last, 1)", "last"],
  ]),
  ...mutantsOf("src/ingest/ecosystems/focus/lines/charge-days.ts", lines, [
    [
      "the last second of a charge has a day of its own",
      template("toInt64(@{seconds}) - 1, 86400)"),
      template("toInt64(@{seconds}), 86400)"),
    ],
    [
      "a day has what those before it have as well",
      template('`(@{until("(day_offset + 1)")} - @{until("day_offset")})`'),
      template('`@{until("(day_offset + 1)")}`'),
    ],
  ]),
  ...mutantsOf("src/ingest/ecosystems/focus/deliveries/expiry.ts", expiry, [
    ["the last day that is kept goes", "until >= keepFrom", "until > keepFrom"],
    ["a charge that is not spread keeps its bill", "(last_start_day ?? last_day)", "last_day"],
    ["a bill that waits never expires", "waits && remaining", "waits || remaining"],
    ["a line without a date is of no day", "if (!has_undated_lines) return charged;", "return charged;"],
  ]),
  ...mutantsOf("src/ingest/ecosystems/focus/deliveries/load-deliveries.ts", expiry, [
    ["an expired bill never comes back", "expiryOf(same, settings) === undefined", "false"],
  ]),
  ...mutantsOf("src/ingest/ecosystems/focus/deliveries/load-deliveries.ts", killed, [
    [
      "what a crash left of an expired bill stays",
      'recorded.filter(({ state }) => state !== "expired")',
      "recorded",
    ],
  ]),
  ...mutantsOf("src/ingest/ecosystems/focus/deliveries/relocated-deliveries.ts", expiry, [
    ["days that retention drops are lacking", "NOT shared AND kept)) AS lacking", "NOT shared)) AS lacking"],
  ]),
  ...mutantsOf("src/ingest/ecosystems/focus/deliveries/duplicates.ts", duplicates, [
    ["files of one size are the same", "other.sha256 === sha256", "other.size === file.size"],
    [
      "a file stays left out when its twin is gone",
      "withDuplicates.length === 0",
      "withDuplicates.length >= 0",
    ],
  ]),
  ...mutantsOf("src/postgres/retirement.ts", retired, [
    ["a month of one account retires that of all", "a.account === b.account && a.period", "a.period"],
    ["a named month is replaced by lines of another", "period === named", "period !== ''"],
    ["days behind a rolling window go", "if (range.from > from) return false;", ""],
  ]),
  ...mutantsOf("src/ingest/ecosystems/focus/lines/counted.ts", overlaps, [
    ["retired lines count", "[...retired, ...superseded]", "[...superseded]"],
    ["superseded lines count", "[...retired, ...superseded]", "[...retired]"],
    ["a superseded file takes the others with it", "files === null ?", "files !== undefined ?"],
  ]),
  ...mutantsOf("src/ingest/ecosystems/focus/overlaps/compare.ts", overlaps, [
    ["one line in common is the same bill", "smaller * SHARE", "0"],
    ["files of one manifest are compared", "unit ?? name", "name"],
  ]),
  ...mutantsOf(
    "src/ingest/ecosystems/focus/deliveries/manifest-totals.ts",
    ["test/ingest/focus/manifest-totals.test.ts"],
    [
      ["rows that a manifest states are not compared", "file.stated !== file.rows", "false"],
      ["a total of rows is not compared", "manifest.rows !== rows", "false"],
      ["sums of a manifest are not compared", 'differenceText(cost, stated[column]) !== "0"', "false"],
    ],
  ),
  ...mutantsOf("src/ingest/ecosystems/focus/overlaps/settle.ts", overlaps, [
    ["a bill that is replaced is settled as well", "!replaced.has(delivery)", "true"],
  ]),
  ...mutantsOf("src/ingest/ecosystems/focus/overlaps/decide.ts", overlaps, [
    ["a copy stops the bill that is charged", "a < b ? own : other", "a < b ? other : own"],
    ["of two new bills one is charged", "new Set([own, other])", "new Set([own])"],
    ["days that the winner does not have go", "to: won.last_day", "to: null"],
  ]),
  ...mutantsOf("src/ingest/ecosystems/focus/load/column-sql.ts", load, [
    ["decimals with more places are cut", "places <= 12 &&", ""],
    ["dates of another century are kept", "unread: `isNotNull(", "unread: `isNull("],
  ]),
  ...mutantsOf("src/query/rules/rule-matches.ts", report, [
    [
      "a large refund is a small product type",
      "ORDER BY abs(cost) DESC, product)",
      "ORDER BY cost DESC, product)",
    ],
    [
      "a product type is summed in one currency and reported in another",
      "min(place) OVER (PARTITION BY rule, product)",
      "place",
    ],
  ]),
  ...mutantsOf("src/query/rules/report.ts", report, [
    [
      "removed rules are not reported",
      template(
        '...former.sort().map((name) => ruleReport({ name }, stageOfFormer(name), sumsOf(name, ""), narrow)),',
      ),
      "",
    ],
    [
      "tiers of one currency are reported for all",
      ".filter(({ currency }) => currency === row.currency)",
      "",
    ],
    ["a rule that kept its lines says nothing of it", 'keep: allocation === "keep"', "keep: false"],
  ]),
  ...mutantsOf("src/query/rules/worklist.ts", worklist, [
    ["lines that cost nothing are work", "HAVING cost != 0", ""],
    [
      "a large refund comes last",
      "ORDER BY abs(toDecimal128(amount, 12)) DESC",
      "ORDER BY toDecimal128(amount, 12) DESC",
    ],
    ["the example is of any day", "toString(argMax(of_day", "toString(argMin(of_day"],
  ]),
  ...mutantsOf(
    "src/query/rules/worklist.ts",
    [...worklist, "test/query/allocation-gaps.test.ts"],
    [
      ["a value with blanks is nobody", '.replace(/^ +| +$/g, "")', ""],
      ["a dot fits no line break", "RE2JS.DOTALL", "0"],
    ],
  ),
  ...mutantsOf("src/query/rules/coverage-sql.ts", coverage, [
    ["a refund takes away from what is covered", "sum(abs(total_cost)) AS size", "sum(total_cost) AS size"],
    [
      "a product type is shown in one currency and with others in the next",
      "min(place) OVER (PARTITION BY product) >",
      "place >",
    ],
  ]),
  ...mutantsOf("src/export/focus/shares.ts", shares, [
    [
      "rows of a line without cost have no part",
      "if(line_ticks = 0, toInt256(line_rows), line_ticks)",
      "line_ticks",
    ],
    [
      "each part is rounded by itself",
      template('(@{until("share_to")} - @{until("share_from")})`, PLACES)'),
      template("intDiv(@{ticks(metric)} * (share_to - share_from), share_whole)`, PLACES)"),
    ],
  ]),
];
