import { mutantsOf } from "./mutant.js";

const points = ["test/ingest/prometheus/points.test.ts"];
const source = ["test/ingest/prometheus/source.test.ts"];

export const ingestMutants = [
  ...mutantsOf(
    "src/ingest/inventory/sql/mark-identities-deleted.ts",
    ["test/ingest/inventory.test.ts"],
    [
      ["UNALLOCATED is kept by its type alone", " AND identity_id <> 'UNALLOCATED'", ""],
      [
        "who was seen in the grace of absence is deleted",
        "last_seen_at < $2::timestamptz - make_interval(secs => gone.grace)",
        "last_seen_at < $2::timestamptz",
      ],
    ],
  ),
  ...mutantsOf(
    "src/ingest/staging/keep-published/keep-measured-usage.ts",
    ["test/runner/partial-usage.test.ts"],
    [
      [
        "gaps that are published are ignored",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the source
        "AND (${key}) NOT IN (SELECT ${key} FROM ${gaps} ${inDays})",
        "",
      ],
    ],
  ),
  ...mutantsOf(
    "src/ingest/configured/identity-sql.ts",
    ["test/ingest/assigned-lines.test.ts", "test/runner/assignments.test.ts"],
    [
      ["an assignment misses its first day", "day >= p.2 AND day <= p.3", "day > p.2 AND day <= p.3"],
      ["an assignment misses its last day", "day >= p.2 AND day <= p.3", "day >= p.2 AND day < p.3"],
      ["an assignment has no end", "day >= p.2 AND day <= p.3", "day >= p.2"],
      [
        "a line that a tag names gets the rule of assigned lines",
        "before.length === 0",
        "before.length >= 0",
      ],
    ],
  ),
  ...mutantsOf(
    "src/ingest/unchanged-window.ts",
    ["test/runner/assignments.test.ts"],
    [
      [
        "a window is not gathered again for an assignment",
        "digestInWindow(allocation?.assigned?.map, window),",
        "",
      ],
    ],
  ),
  ...mutantsOf(
    "src/domain/assignment.ts",
    ["test/runner/assignments.test.ts"],
    [["an assignment takes what is measured", "tiers.slice(0, Math.max(issue, 0))", "tiers.slice(0, 0)"]],
  ),
  ...mutantsOf(
    "src/assignments/write.ts",
    ["test/http/assignments.test.ts"],
    [
      ["an assignment may end on the first day of another", ">= $3::date", "> $3::date"],
      [
        "an assignment may begin on the last day of another",
        "valid_from <= coalesce",
        "valid_from < coalesce",
      ],
      ["writers do not wait for each other", "pg_advisory_xact_lock($1", "pg_advisory_xact_lock_shared($1"],
    ],
  ),
  ...mutantsOf(
    "src/ingest/staging/drop-stand-ins.ts",
    ["test/e2e/metrics-outage.test.ts"],
    [
      [
        "usage that stands in stays beside what it stands in for",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the source
        "where: `preferred.first = 0 OR ${position} <= preferred.first`",
        'where: "true"',
      ],
    ],
  ),
  ...mutantsOf(
    "src/ingest/staging/topic-sink.ts",
    ["test/e2e/metrics-outage.test.ts"],
    [
      [
        "a failed metric of a cluster that is not billed makes the day provisional",
        "accepted.filter(isBilled).map(gapRow)",
        "accepted.map(gapRow)",
      ],
    ],
  ),
  ...mutantsOf(
    "src/ingest/ecosystems/focus/usage/kubernetes/queries.ts",
    ["test/kubernetes/queries.test.ts"],
    [
      ["containers of ended pods still hold what they requested", 'phase=~"Pending|Running"', 'phase=~".+"'],
      ["the container that holds a pod's network counts", `, 'container!="POD"']`, "]"],
      ["a pod that moves makes the query fail", "topk by (namespace, pod) (1, max by", "(max by"],
      [
        "replicas of cAdvisor count twice",
        "max by (namespace, pod, container, resource) (\n      l",
        "sum by (namespace, pod, container, resource) (\n      l",
      ],
      ["cores beyond the capacity make up for idle memory", "    ),\n    0\n  )", "    ),\n    -1e9\n  )"],
      [
        "a step of Prometheus 2 counts a point too many",
        " / scalar(count_over_time(vector(1)[$step:5m]))",
        " / 12",
      ],
      [
        "each machine of a scale set is a resource",
        '"azure://(.+/virtualMachineScaleSets/[^/]+)/virtualMachines/.+"',
        '"azure://none"',
      ],
    ],
  ),
  ...mutantsOf(
    "src/ingest/prometheus/replicas.ts",
    ["test/ingest/prometheus/replicas.test.ts"],
    [
      ["a label that is named is looked for all the same", "if (names(selector)) return false;", ""],
      ["an aggregation that keeps the label hides the one around it", "if (keepsLabel) continue;", ""],
      ["single series are reported as copies", "return most > 1", "return most > 0"],
    ],
  ),
  ...mutantsOf(
    "src/ingest/metered/send-bill.ts",
    ["test/ingest/generic_metrics_only/stage.test.ts"],
    [
      [
        "storage of the first sampled day is priced as if all of it was measured",
        "onlyMeasured: samples.first?.day === day",
        "onlyMeasured: false",
      ],
    ],
  ),
  ...mutantsOf(
    "src/ingest/metered/control.ts",
    ["test/ingest/metered-control.test.ts"],
    [
      ["a step without a sample counts as before the first", "start < begin", "start <= begin + 86_400"],
      ["a cost of 0 counts as charged", '/[1-9]/.test(cost) ? "charged" : "zero"', '"charged"'],
    ],
  ),
  ...mutantsOf(
    "src/ingest/control/record-totals-of-days.ts",
    ["test/runner/metered-control-totals.test.ts"],
    [
      ["a charged day loses its totals in an outage", "|| !charged.has(day)", "|| true"],
      ["a day that waits counts as charged", "? total : waiting(total)", "? total : total"],
      ["totals of a day that keeps its bill are replaced", "|| kept.includes(day)", ""],
    ],
  ),
  ...mutantsOf(
    "src/ingest/prometheus/unchanged-responses.ts",
    ["test/ingest/confluent_cloud/unchanged-responses.test.ts"],
    [["a request that failed is a difference forever", "if (response.digest !== FAILED)", "if (true)"]],
  ),
  ...mutantsOf(
    "src/allocate/finalize-days.ts",
    ["test/runner/provisional.test.ts"],
    [
      [
        "a settled day loses its bill",
        '["billing", "usage", "identity_sets", "usage_gaps"]',
        '["usage", "identity_sets", "usage_gaps"]',
      ],
    ],
  ),
  ...mutantsOf(
    "src/ingest/ecosystems/confluent_cloud/topics.ts",
    ["test/ingest/confluent_cloud/topics.test.ts"],
    [["topics at rest are not measured", "keepsZeros: true", "keepsZeros: false"]],
  ),
  ...mutantsOf("src/ingest/prometheus/points.ts", points, [
    [
      "the midnight that begins a window is in it",
      "first: start + stepSeconds, last: end",
      "first: start, last: end",
    ],
    [
      "the midnight that ends a window is not in it",
      "first: start + stepSeconds, last: end",
      "first: start + stepSeconds, last: end - stepSeconds",
    ],
    ["a step that does not divide a day", "DAY_SECONDS % stepSeconds !== 0", "stepSeconds > DAY_SECONDS"],
    ["a window without a day", "if (end <= start)", "if (end < start)"],
    [
      "one point is left out of each count",
      "(last - first) / stepSeconds + 1",
      "(last - first) / stepSeconds",
    ],
    ["pieces overlap by a point", "(size - 1) * range.stepSeconds", "size * range.stepSeconds"],
    ["pieces do not end at midnight", "Math.floor(most / perDay) * perDay", "most"],
    ["halves overlap by a point", "last: firstOfSecond - range.stepSeconds", "last: firstOfSecond"],
    [
      "a point at midnight is of the day that begins",
      "at < last; at += DAY_SECONDS",
      "at <= last; at += DAY_SECONDS",
    ],
    ["a point stands for the step behind it", "return point - stepSeconds", "return point"],
  ]),
  ...mutantsOf(
    "src/ingest/prometheus/split-query.ts",
    [...source, "test/ingest/prometheus/pieces.test.ts"],
    [
      [
        "a response that is too large is not cut",
        'error.code === "too_large" ? divided(part, "time", 1) : undefined',
        "undefined",
      ],
      [
        "one place that fails passes for an outage",
        "yield { range: rangeOfDay(range, day)",
        "if (index > 0) return;\n    yield { range: rangeOfDay(range, day)",
      ],
    ],
  ),
  ...mutantsOf("src/ingest/prometheus/source.ts", source, [
    ["partial responses are accepted", 'partial_response: "false", deny_partial_response: "1"', ""],
    [
      "what fails alone is dropped in silence",
      "yield { kind, days, resources, reason: part.reason };",
      "continue;",
    ],
    [
      "the points between two pieces are requested twice",
      "next = chunk.last + stepSeconds",
      "next = chunk.last",
    ],
  ]),
  ...mutantsOf(
    "src/ingest/micro-units.ts",
    ["test/ingest/micro-units.test.ts"],
    [
      ["a half is rounded down", "digit >= 5", "digit > 5"],
      ["short fractions are millionths", "for (; places < PLACES; places += 1) fraction *= 10;", ""],
      ["floats that are not exact are taken", "|| whole > MOST_WHOLE", ""],
      [
        "a second point ends a number",
        "if (digit < 0 || digit > 9) return undefined;",
        "if (digit < 0 || digit > 9) break;",
      ],
      ["sums that are not exact are taken", "a + b <= Number.MAX_SAFE_INTEGER", "a + b <= Number.MAX_VALUE"],
    ],
  ),
  ...mutantsOf(
    "src/ingest/usage-series.ts",
    ["test/ingest/usage-series.test.ts"],
    [["what comes out of order goes to another step", "sums.splice(at, 0, amount)", "sums.push(amount)"]],
  ),
  ...mutantsOf(
    "src/ingest/prometheus/sample-bytes.ts",
    ["test/ingest/prometheus/sample-bytes.test.ts"],
    [
      ["escapes are taken as they stand", " && code !== BACKSLASH", ""],
      ["a time with a leading zero is one", " || bytes[digits] === ZERO", ""],
      ["what is too short for its number is taken out", "to - from > NUMBER_LENGTH", "to > from"],
      [
        "a list that goes on is taken out",
        "return bytes[next] === CLOSING ? next + 1 : undefined;",
        "return next + 1;",
      ],
    ],
  ),
  ...mutantsOf(
    "src/ingest/stage-window.ts",
    ["test/runner/assignments.test.ts", "test/ingest/configured-rules.test.ts"],
    [
      [
        "records of an upstream have no rule",
        "counts.selected === counts.billing ? restored : staged",
        "restored",
      ],
    ],
  ),
  ...mutantsOf(
    "src/ingest/staging/staging-writer.ts",
    ["test/runner/focus-rules.test.ts"],
    [["lines that the engine selects have no rule", "assignment ?? {", "undefined ?? {"]],
  ),
  ...mutantsOf(
    "src/ingest/staging/series-bytes.ts",
    ["test/ingest/stage-window.test.ts"],
    [["amounts lose their upper half", "view.setUint32(offset + 4, amount / TWO_TO_32, true);", ""]],
  ),
  ...mutantsOf(
    "src/ingest/staging/staging-sink.ts",
    ["test/ingest/stage-window.test.ts"],
    [
      ["series outside the window are stored", "starts.every(isInside) &&", ""],
      ["series that hold any amount are stored", "microUnits.every(isStorableAmount)", "true"],
    ],
  ),
  ...mutantsOf(
    "src/upstream/http/attempt.ts",
    ["test/upstream/http.test.ts"],
    [
      ["a response may decompress to any size", "size > maxBytes", "size < 0"],
      [
        "an error whose body breaks off is none",
        "  } catch {\n",
        "  } catch (error) {\n    if (held.length >= 0) throw error;\n",
      ],
    ],
  ),
];
