import { mutantsOf, template } from "./mutant.js";

const money = ["test/allocate/money.test.ts"];
const split = ["test/allocate/allocate-days.test.ts"];
const configured = ["test/runner/focus-rules.test.ts"];
const currencies = ["test/runner/currencies.test.ts"];
const stages = ["test/runner/stages.test.ts"];

const passing = ["test/runner/pass-on.test.ts"];

export const allocateMutants = [
  ...mutantsOf("src/allocate/sql/passing-parts.ts", passing, [
    [
      "a row that a step takes stays in its day as well",
      template('if(taken_by = 0, day, @{heldDaySql("day")})'),
      "day",
    ],
    ["a step ignores its condition", '({ where }) => where ?? "true"', '() => "true"'],
    ["a step takes what another step takes", template(" AND r.passed_path[-1].1 = @{step}"), ""],
  ]),
  ...mutantsOf("src/allocate/sql/cost-parts.ts", money, [
    ["a row's part of another cost begins at the start of the line", template('@{cut("until - part")}'), "0"],
    [
      "what another cost has below one tick is lost",
      template("@{raw} - intDiv(@{raw}, tick) * tick, 0)"),
      "toInt128(0), 0)",
    ],
    ["a line below one tick has no other cost", template("line_ticks = 0, @{raw}, "), "line_ticks = 0, 0, "],
  ]),
  ...mutantsOf(
    "src/allocate/sql/check-conservation.ts",
    ["test/allocate/check-conservation.test.ts"],
    [
      ["other costs are not compared", template("costs.map((name) => `off_@{name} != 0`)"), "[]"],
      [
        "rows without a part of a cost have all of it",
        template("-sum(ifNull(@{name}, "),
        template("-sum(ifNull(NULL, "),
      ],
    ],
  ),
  ...mutantsOf("src/stores/facts/emptied.ts", passing, [
    ["an emptied identity has weight", "({ step }) => step <= last", "() => false"],
  ]),
  ...mutantsOf("src/domain/passed-cost.ts", passing, [
    [
      "earlier days of the month count as they are after all steps",
      template("`if(@{hop}.1 = 0, toString(identity_id), toString(@{hop}.2))`"),
      "`toString(identity_id)`",
    ],
  ]),
  ...mutantsOf("src/allocate/sql/allocated-weights.ts", stages, [
    [
      "excluded identities have weight",
      template('isNotExcluded("who", exclude)'),
      template('isNotExcluded("who", [])'),
    ],
    ["published costs of earlier days are no weights", "day NOT IN {days:Array(Date)} AND", "false AND"],
    ["published costs of later stages are weights", template(" AND @{isOfEarlierStage}"), ""],
  ]),
  ...mutantsOf("src/ingest/staging/earlier-days.ts", stages, [
    ["a day does not depend on earlier days", "earlier.map(({ day, hash }) => [day, hash])", "[]"],
    ["a day that weighs by a provisional day is final", "provisionalDays.length === 0", "true"],
  ]),
  ...mutantsOf("src/allocate/allocate-pending.ts", stages, [
    ["a day is calculated although an earlier one of its month failed", "job.failed.add(day);", ""],
  ]),
  ...mutantsOf(
    "src/allocate/allocate-pending.ts",
    ["test/runner/shrunk-batches.test.ts"],
    [
      [
        "batches stay as large after one that took too much memory",
        "size.maxWork = Math.min(size.maxWork, workOf(size, days) / 2);",
        "",
      ],
    ],
  ),
  ...mutantsOf("src/config/allocation/to-allocation-rule.ts", stages, [
    ["allocated costs are direct ones", 'of === "allocated" ? stage : undefined', "undefined"],
  ]),
  ...mutantsOf("src/allocate/sql/rule-parts.ts", split, [
    [
      "sets of the tenant are looked for at the resource",
      template("resourceOf: (setOf) => `if(@{setOf} = 'tenant', '', toString(resource_id))`"),
      'resourceOf: () => "toString(resource_id)"',
    ],
    [
      "products without a rule have no row",
      "FROM rules), product_type, '*') AS rule_of\"",
      "FROM rules), product_type, '') AS rule_of\"",
    ],
  ]),
  ...mutantsOf("src/allocate/sql/allocate-days.ts", money, [
    [
      "weights of combined metrics go to the wrong identities",
      "arrayFlatten(groupArray(u.ranks)) AS ranks, arrayFlatten(groupArray(u.weights)) AS weights",
      "arrayFlatten(groupArray(u.ranks)) AS ranks, arrayReverse(arrayFlatten(groupArray(u.weights))) AS weights",
    ],
    [
      "recipients are rounded without an offset",
      "intDiv(ticks * total + recipients_offset, total_weight)",
      "intDiv(ticks * total, total_weight)",
    ],
    [
      "recipients are rounded up instead of down",
      "intDiv(ticks * total + recipients_offset, total_weight)",
      "intDiv(ticks * total + recipients_offset + total_weight - 1, total_weight)",
    ],
    [
      "the offset can be the whole weight",
      template('@{pointSql("recipients_hash", "total_weight", int)} AS recipients_offset'),
      template('@{pointSql("recipients_hash", "total_weight", int)} + 1 AS recipients_offset'),
    ],
    ["what is below a tick is lost", "if(position = residue_position, residue, 0)", "0"],
    [
      "the first recipient gets the residue",
      "arrayFirstIndex(total -> total > recipient_point, totals)",
      "1",
    ],
    [
      "the residue goes to the recipient after its point",
      "total -> total > recipient_point",
      "total -> total - 1 > recipient_point",
    ],
    [
      "the first component gets the residue",
      "residue_point >= c.3 AND residue_point < c.4 AS has_residue",
      "c.3 = 0 AS has_residue",
    ],
    [
      "refunds are rounded without turning their sign",
      "intDiv(abs(raw), tick) AS line_ticks",
      "intDiv(raw, tick) AS line_ticks",
    ],
    ["lines of 0 have no row", "(raw = 0 AND position = residue_position)", "0"],
    ["refunds are charges", "toInt128(direction) *", "toInt128(1) *"],
    [
      "components are rounded without an offset",
      template("intDiv(line_ticks * @{ratio} + components_offset, @{WHOLE_LINE})"),
      template("intDiv(line_ticks * @{ratio}, @{WHOLE_LINE})"),
    ],
    ["an unknown owner is not named", "multiIf(go = 2, ", "multiIf(go = 7, "],
  ]),
  ...mutantsOf("src/allocate/sql/allocate-days.ts", split, [
    ["one of several owners pays alone", "}) = 1\n  ),\n  -- Of usage", "}) >= 1\n  ),\n  -- Of usage"],
  ]),
  ...mutantsOf("src/allocate/sql/repeated-lines.ts", money, [
    ["two lines of one key stay two", "HAVING count() > 1", "HAVING count() > 2"],
    ["of several lines of one key only one counts", 'merge: "sum" }', 'merge: "any" }'],
  ]),
  ...mutantsOf("src/allocate/sql/weight-bound.ts", money, [
    ["two lines of one key are not noticed", "max(n) > 1", "max(n) > 2"],
  ]),
  ...mutantsOf("src/allocate/sql/rule-parts.ts", configured, [
    ["whom a line names pays nothing", "sole: \"if(c.kind = 'line', named, nobody)\"", 'sole: "nobody"'],
  ]),
  ...mutantsOf("src/ingest/configured/identity-sql.ts", configured, [
    [
      "only the first source of identities is used",
      template('[@{sources.join(", ")}]'),
      template("[@{sources[0]}]"),
    ],
  ]),
  ...mutantsOf("src/ingest/configured/derive-weights.ts", configured, [
    [
      "fixed shares are equal",
      template("(@{literal(identity)}, @{microUnits(share)})"),
      template("(@{literal(identity)}, 1)"),
    ],
    ["costs of a column weigh by currency alone", "costs.within === undefined", "costs.within !== null"],
  ]),
  ...mutantsOf("src/allocate/sql/allocate-days.ts", currencies, [
    [
      "rows are in USD, whatever the line is in",
      template('SELECT @{copied.map(({ billColumn }) => billColumn).join(", ")}, names'),
      template(
        'SELECT @{copied.map(({ billColumn }) => billColumn).join(", ").replace("currency", "\'USD\'")}, names',
      ),
    ],
  ]),
  ...mutantsOf("src/allocate/sql/check-conservation.ts", currencies, [
    [
      "currencies cancel each other out in the check",
      template(
        "      SELECT @{lineKeySql(input.ledger)}, sum(total_cost) AS billed, toDecimal128(0, 12) AS charged, count() AS lines, toUInt64(0) AS n@{ofLines}\n      FROM @{input.lines}\n      GROUP BY @{lineKeySql(input.ledger)}\n      UNION ALL\n      SELECT @{rowKeySql(input.ledger)}, toDecimal128(0, 12), ",
      ),
      template(
        '      SELECT @{lineKeySql(input.ledger).replace(", currency", ", \'X\' AS currency")}, sum(total_cost) AS billed, toDecimal128(0, 12) AS charged, count() AS lines, toUInt64(0) AS n@{ofLines}\n      FROM @{input.lines}\n      GROUP BY @{lineKeySql(input.ledger)}\n      UNION ALL\n      SELECT @{rowKeySql(input.ledger).replace(", currency", ", \'X\' AS currency")}, toDecimal128(0, 12), ',
      ),
    ],
  ]),
  ...mutantsOf(
    "src/domain/rounding-offsets.ts",
    ["test/allocate/fair-rounding.test.ts"],
    [
      [
        "points are remainders of the hash",
        template("CAST(bitShiftRight(CAST(@{hash} AS UInt256) * CAST(@{whole} AS UInt256), 64) AS @{int})"),
        template("CAST(CAST(@{hash} AS UInt256) % CAST(@{whole} AS UInt256) AS @{int})"),
      ],
      ["both points of a line are the same", template("'\\\\n@{point}'@{more"), template("'\\\\n'@{more")],
    ],
  ),
  ...mutantsOf("src/allocate/calculate.ts", money, [
    ["Int128 for up to 41 digits", "const INT128_DIGITS = 37", "const INT128_DIGITS = 41"],
    ["never Int256", "bound.digits >= INT128_DIGITS", "false"],
  ]),
  ...mutantsOf("src/allocate/calculate.ts", split, [
    ["many rows by one statement", "bound.rows_at_most < MIN_ROWS_FOR_TWO_STATEMENTS", "true"],
    ["few rows by two statements", "bound.rows_at_most < MIN_ROWS_FOR_TWO_STATEMENTS", "false"],
  ]),
  ...mutantsOf(
    "src/allocate/ledger.ts",
    ["test/allocate/attribute-days.test.ts"],
    [
      [
        "topics measured with 0 are not there",
        'stagedTable("topic_usage", epoch)} WHERE day IN {days:Array(Date)})',
        'stagedTable("topic_usage", epoch)} WHERE day IN {days:Array(Date)} AND micro_units > 0)',
      ],
    ],
  ),
  ...mutantsOf(
    "src/ingest/staging/content-hash.ts",
    ["test/ingest/content-hash.test.ts"],
    [
      ["env_id is not in the hash", 'name !== "day" &&', 'name !== "day" && name !== "env_id" &&'],
      [
        "owners and members are not in the hash",
        'name !== "day" &&',
        'name !== "day" && name !== "identity_id" &&',
      ],
      ["the rules are not in the hash", "digest([...settings, ...parts])", "digest([...parts])"],
    ],
  ),
];
