import { mutantsOf, template } from "./mutant.js";

const money = ["test/allocate/money.test.ts"];
const split = ["test/allocate/allocate-days.test.ts"];
const currencies = ["test/runner/currencies.test.ts"];

export const allocateMutants = [
  ...mutantsOf("src/allocate/sql/allocate-days.ts", money, [
    [
      "weights of combined metrics go to the wrong identities",
      "arrayFlatten(groupArray(u.ranks)) AS ranks, arrayFlatten(groupArray(u.weights)) AS weights",
      "arrayFlatten(groupArray(u.ranks)) AS ranks, arrayReverse(arrayFlatten(groupArray(u.weights))) AS weights",
    ],
    [
      "the smallest remainders get what is missing",
      "arrayReverseSort(remainders)[missing]",
      "arraySort(remainders)[missing]",
    ],
    ["one of several equal remainders gets nothing", "e <= among_equals", "e < among_equals"],
    ["what is below a tick is lost", "if(position = lead_position, residue, 0)", "0"],
    [
      "the smallest share gets the residue",
      "indexOf(weights, arrayMax(weights))",
      "indexOf(weights, arrayMin(weights))",
    ],
    ["lines of 0 have no row", "(raw = 0 AND position = lead_position)", "0"],
    ["refunds are charges", "toInt128(direction) *", "toInt128(1) *"],
    [
      "components are rounded down",
      "intDiv(line_ticks * 2 * c.4 + 1000000, 2000000)",
      "intDiv(line_ticks * 2 * c.4, 2000000)",
    ],
    [
      "what is left over goes to the last component",
      "indexOf(component_ticks, arrayMax(component_ticks))",
      "length(component_ticks)",
    ],
    ["an unknown owner is not named", "multiIf(go = 2, ", "multiIf(go = 7, "],
  ]),
  ...mutantsOf("src/allocate/sql/allocate-days.ts", split, [
    ["one of several owners pays alone", "}) = 1\n  ),\n  -- Of usage", "}) >= 1\n  ),\n  -- Of usage"],
    [
      "sets of the tenant are looked for at the resource",
      "if(t.4 = 'tenant', '', toString(resource_id))) IN found",
      "toString(resource_id)) IN found",
    ],
    [
      "products without a rule have no row",
      "rules), product_type, '*') AS rule_of",
      "rules), product_type, '') AS rule_of",
    ],
  ]),
  ...mutantsOf("src/allocate/sql/allocate-days.ts", money, [
    [
      "lines of one key in two currencies are one line",
      template(
        "    SELECT day, @{lineKeySql()}, any(ecosystem) AS ecosystem, any(tenant_id) AS tenant_id,\n      CAST(reinterpret(sum(total_cost), 'Int128') AS @{int}) AS raw,\n      if(product_type IN (SELECT product_type FROM rules), product_type, '*') AS rule_of\n    FROM @{stagedTable(\"billing\", epoch)}\n    WHERE day IN {days:Array(Date)}@{ruledLines(ledger)}\n    GROUP BY day, @{lineKeySql()}\n",
      ),
      template(
        '    SELECT day, @{lineKeySql().replace(", currency", "")}, any(currency) AS currency, any(ecosystem) AS ecosystem, any(tenant_id) AS tenant_id,\n      CAST(reinterpret(sum(total_cost), \'Int128\') AS @{int}) AS raw,\n      if(product_type IN (SELECT product_type FROM rules), product_type, \'*\') AS rule_of\n    FROM @{stagedTable("billing", epoch)}\n    WHERE day IN {days:Array(Date)}@{ruledLines(ledger)}\n    GROUP BY day, @{lineKeySql().replace(", currency", "")}\n',
      ),
    ],
  ]),
  ...mutantsOf("src/allocate/sql/allocate-days.ts", currencies, [
    [
      "rows are in USD, whatever the line is in",
      template('SELECT @{lineColumns.join(", ")}, resource_id'),
      template('SELECT @{lineColumns.join(", ").replace("currency", "\'USD\'")}, resource_id'),
    ],
  ]),
  ...mutantsOf("src/allocate/sql/check-conservation.ts", currencies, [
    [
      "currencies cancel each other out in the check",
      template(
        "      SELECT @{lineKeySql()}, sum(total_cost) AS billed, toDecimal128(0, 12) AS charged, count() AS lines, toUInt64(0) AS n\n      FROM @{input.lines}\n      GROUP BY @{lineKeySql()}\n      UNION ALL\n      SELECT @{lineKeySql(input.resource)}, toDecimal128(0, 12), ",
      ),
      template(
        '      SELECT @{lineKeySql().replace(", currency", ", \'X\' AS currency")}, sum(total_cost) AS billed, toDecimal128(0, 12) AS charged, count() AS lines, toUInt64(0) AS n\n      FROM @{input.lines}\n      GROUP BY @{lineKeySql()}\n      UNION ALL\n      SELECT @{lineKeySql(input.resource).replace(", currency", ", \'X\' AS currency")}, toDecimal128(0, 12), ',
      ),
    ],
  ]),
  ...mutantsOf("src/allocate/calculate.ts", money, [
    ["Int128 for up to 41 digits", "const int128Digits = 37", "const int128Digits = 41"],
    ["never Int256", "bound === undefined || bound.digits >= int128Digits", "false"],
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
      ["env_id is not in the hash", "tenant_id, env_id, resource_id", "tenant_id, resource_id"],
      ["the owner of a set is not in the hash", '"scope, resource_id, identity_id"', '"scope, resource_id"'],
      ["the rules are not in the hash", "digest([...settings, ...parts])", "digest([...parts])"],
    ],
  ),
];
