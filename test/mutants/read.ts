import { mutantsOf } from "./mutant.js";

export const readMutants = [
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
    "src/query/page/keyset.ts",
    ["test/http/cursors.test.ts"],
    [
      [
        "a cursor behind more than 1,000 equal rows begins again",
        "Math.max(place.given - MOST_SAME, 0)",
        "0",
      ],
      ["a page behind equal rows is too short", "rows + Math.min(given, MOST_SAME)", "rows"],
      ["a cursor forgets the equal rows of earlier pages", "given: before + same", "given: same"],
      ["equal rows are left out", "} >= $", "} > $"],
    ],
  ),
  ...mutantsOf(
    "src/tags/forget-dimensions.ts",
    ["test/tags/concurrency.test.ts"],
    [["dimensions are forgotten beside writers", 'forget, "alone")', "forget)"]],
  ),
  ...mutantsOf(
    "src/tags/transaction.ts",
    ["test/tags/concurrency.test.ts"],
    [
      ["labels are not counted", "await addToLabelCounts(client, counts);", ""],
      ["changes are not noted for the mirror", "await noteChanges(client, tenantName, tags);", ""],
      [
        "writers of one dimension are not in turn",
        'await tx.client.query("SELECT pg_advisory_xact_lock($1::bigint)", [key.toString()]);',
        "void key;",
      ],
    ],
  ),
];
