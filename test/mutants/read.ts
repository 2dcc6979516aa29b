import { mutantsOf, template } from "./mutant.js";

const currencies = ["test/runner/currencies.test.ts"];

export const readMutants = [
  ...mutantsOf("src/query/state/reconcile.ts", currencies, [
    [
      "currencies cancel each other out in the reconciliation",
      template(
        "    SELECT @{lineKeySql(ledger)}, total_cost AS b, toDecimal128(0, 12) AS c, toUInt64(1) AS lines, toUInt64(0) AS r\n    FROM @{lines}\n    UNION ALL\n    SELECT @{rowKeySql(ledger)}",
      ),
      template(
        '    SELECT @{lineKeySql(ledger).replace(", currency", ", \'X\' AS currency")}, total_cost AS b, toDecimal128(0, 12) AS c, toUInt64(1) AS lines, toUInt64(0) AS r\n    FROM @{lines}\n    UNION ALL\n    SELECT @{rowKeySql(ledger).replace(", currency", ", \'X\' AS currency")}',
      ),
    ],
  ]),
  ...mutantsOf(
    "src/query/state/reconcile-days.ts",
    ["test/http/reconciliation.test.ts"],
    [
      [
        "chargebacks of all currencies are held against the bill in dollars",
        template("toString(currency) AS of_currency, @{none}, @{columns}"),
        template("'USD' AS of_currency, @{none}, @{columns}"),
      ],
      [
        "what nobody pays for counts as allocated",
        "toString(sum(charged) - sum(unallocated)) AS allocated_amount",
        "toString(sum(charged)) AS allocated_amount",
      ],
      [
        "a provisional day is not distinguished from others",
        "max(of_provisional) AS provisional",
        "false AS provisional",
      ],
      [
        "lines are not compared although they should be",
        "byLine ? reconcileWindow",
        "!byLine ? reconcileWindow",
      ],
    ],
  ),
  ...mutantsOf(
    "src/query/chargebacks/breakdown-sql.ts",
    ["test/query/breakdown-sql.test.ts"],
    [
      [
        "a quote ends the literal it stands in",
        "[...literal(value)]",
        "[...`'@{value}'`]".replaceAll("@{", "${"),
      ],
      [
        "a tag that is excluded is wanted",
        "isExcluding ? `NOT @{found}` : found".replaceAll("@{", "${"),
        "found",
      ],
    ],
  ),
  ...mutantsOf("src/query/chargebacks/row-metadata.ts", currencies, [
    [
      "recipients of two currencies are counted together",
      'line === "key" ? [name',
      'line === "key" && name !== "currency" ? [name',
    ],
  ]),
  ...mutantsOf(
    "src/query/chargebacks/explain/arithmetic.ts",
    ["test/http/explain-cases.test.ts"],
    [["nobody has the residue", "? line.residue : 0n", "? 0n : 0n"]],
  ),
  ...mutantsOf(
    "src/query/chargebacks/explain/shares.ts",
    ["test/http/explain.test.ts"],
    [["the residue of another component is shown", "component.hasResidue && line.residue", "line.residue"]],
  ),
  ...mutantsOf(
    "src/query/chargebacks/explain/arithmetic.ts",
    ["test/http/explain.test.ts"],
    [["components are explained without their offset", "ticks * millionths + offset", "ticks * millionths"]],
  ),
  ...mutantsOf(
    "src/query/chargebacks/explain/shares.ts",
    ["test/http/explain-cases.test.ts"],
    [
      [
        "weights are reported that do not result in the published amounts",
        "!== BigInt(charged)) return undefined",
        "=== -1n) return undefined",
      ],
    ],
  ),
  ...mutantsOf("src/query/chargebacks/aggregate-result.ts", currencies, [
    ["the first currency stands for all", "if (others.length > 0) return", "if (others.length > 9) return"],
  ]),
  ...mutantsOf(
    "src/query/chargebacks/scan.ts",
    ["test/http/window-end.test.ts"],
    [
      [
        "a window takes its end too",
        "AND timestamp < {to:DateTime('UTC')}",
        "AND timestamp <= {to:DateTime('UTC')}",
      ],
      ["a window leaves its start out", '"timestamp >= {from:DateTime', '"timestamp > {from:DateTime'],
    ],
  ),
  ...mutantsOf(
    "src/query/tags/tag-sql.ts",
    ["test/query/tag-condition.test.ts"],
    [
      ["untagged rows are those with a wanted tag", 'wantsUntagged ? "NOT IN" : "IN"', '"IN"'],
      ["a filter that excludes untagged rows keeps them", "wantsUntagged === isExcluding", "!isExcluding"],
      ["a tag is matched by its old name", "FROM dimension_tags FINAL WHERE", "FROM dimension_tags WHERE"],
      [
        "dimensions that differ in their environment alone are one",
        ".map((field, index) => `toUInt64(",
        ".map((field, index) => field === 'env_id' ? '0' : `toUInt64(",
      ],
    ],
  ),
  ...mutantsOf(
    "src/query/chargebacks/summed-rows.ts",
    ["test/http/names.test.ts"],
    [
      [
        "environments are looked up among the resources that are filtered by",
        "resource_id !== undefined && !needsEnvironments",
        "resource_id !== undefined",
      ],
    ],
  ),
  ...mutantsOf(
    "src/query/page/position.ts",
    ["test/http/cursors.test.ts"],
    [
      [
        "a cursor behind more than 1,000 equal rows begins again",
        "Math.max(position.returned - MAX_EQUAL_ROWS, 0)",
        "0",
      ],
      ["a page behind equal rows is too short", "rows + Math.min(returned, MAX_EQUAL_ROWS)", "rows"],
      ["a cursor forgets the equal rows of earlier pages", "returned: before + same", "returned: same"],
      ["equal rows are left out", "} >= $", "} > $"],
      [
        "a page on the day of its cursor begins with that day",
        "days.first_day > dayOfPosition(columns, position.values)",
        "days.first_day >= dayOfPosition(columns, position.values)",
      ],
      [
        "a page over two days looks behind the cursor on both",
        "if (days.last_day === position_day)",
        "if (days.first_day === position_day)",
      ],
    ],
  ),
  ...mutantsOf(
    "src/http/plugins/pagination.ts",
    ["test/http/revalidation.test.ts"],
    [
      ["nothing is prefetched", "Math.max(Math.floor(ROWS_AHEAD / page_size) - 1, 0)", "0"],
      [
        "prefetched pages outlive a publish",
        "JSON.stringify([listKey, page_size, pageCursor])",
        "JSON.stringify([page_size, pageCursor])",
      ],
    ],
  ),
  ...mutantsOf(
    "src/query/page/read-pages.ts",
    ["test/http/revalidation.test.ts"],
    [
      [
        "each page that is read ahead begins behind the first",
        "next.push(endOf(from, next.at(-1)))",
        "next.push(endOf(from, place))",
      ],
    ],
  ),
  ...mutantsOf(
    "src/http/plugins/response-cache.ts",
    ["test/http/response-cache.test.ts"],
    [
      ["twice the capacity is cached", "maxSize: CAPACITY_CHARACTERS", "maxSize: 2 * CAPACITY_CHARACTERS"],
      ["a long response displaces others", "    maxEntrySize: MAX_CHARACTERS,\n", ""],
    ],
  ),
  ...mutantsOf(
    "src/http/plugins/pagination.ts",
    ["test/http/page-prefetch.test.ts"],
    [
      ["a prefetched page is used twice", "      pages.delete(key);\n", ""],
      ["every page counts as one row", "Math.max(items.length, 1)", "Math.min(items.length, 1)"],
    ],
  ),
  ...mutantsOf(
    "src/tags/forget-dimensions.ts",
    ["test/tags/concurrency.test.ts"],
    [["dimensions are forgotten beside writers", 'forget, "exclusive")', "forget)"]],
  ),
  ...mutantsOf(
    "src/tags/transaction.ts",
    ["test/tags/concurrency.test.ts"],
    [
      ["labels are not counted", "await addToLabelCounts(client, counts);", ""],
      ["changes are not noted for the mirror", "await addToOutbox(client, tenantName, tags);", ""],
      [
        "writers of one dimension are not in turn",
        '"SELECT pg_advisory_xact_lock($1::bigint)"',
        '"SELECT $1::bigint"',
      ],
    ],
  ),
];
