import { stagedTable } from "../../clickhouse/staging.js";
import type { Statement } from "../../clickhouse/statement.js";
import { lineColumns } from "../../domain/ledger.js";
import { hashOfPoint, pointSql, WHOLE_LINE } from "../../domain/rounding-offsets.js";
import type { SplitLedger } from "../ledger.js";
import { costParts, withoutCosts } from "./cost-parts.js";
import { linesOfBill } from "./repeated-lines.js";
import { type AppliedRules, type RuleParts, ruleParts } from "./rule-parts.js";

/**
 * The statement that allocates a batch of days: it reads every staged billing line and writes the rows of a ledger
 * (chargebacks, or topic attributions). No row passes through JavaScript.
 *
 * Lines → components by ratio → the first tier that finds a recipient → that tier's recipients with integer weights →
 * ticks by systematic rounding → rows. All money is integers: `raw` is the amount in units of 1e-12, and a tick is one
 * unit of the tenant's decimal_places. The engine's decimal arithmetic is not used, because its `*`, `/` and sum
 * overflow silently.
 *
 * The statement uses arrays per line rather than window functions: on 1 M lines x 20 M usage rows, arrays ran at 3.4 M
 * rows/s in 1.1 GB, window functions at 2 to 3 M rows/s in 2.4 GB.
 */
export interface AllocateDays {
  readonly ledger: SplitLedger;
  readonly epoch: number;
  readonly days: readonly string[];
  /** The days whose rows are provisional. */
  readonly provisional: readonly string[];
  /** Hash of each day's input, in the order of the days. */
  readonly revisions: readonly string[];
  readonly rulesHash: string;
  /** Decimal places of a tick, 2 to 12. */
  readonly decimalPlaces: number;
  /** Some rule weighs by several metrics together. */
  readonly combinesMetrics: boolean;
  /** Reads weights as sums of a day instead of as single samples. */
  readonly sumsOfDay: boolean;
  /** Uses Int256, at half the speed, because a product of costs or weights may not fit Int128. */
  readonly wide: boolean;
  /** Splits the other costs of the bill as well. */
  readonly hasOtherCosts: boolean;
  /** Several lines may have the same key. */
  readonly hasRepeatedLines: boolean;
  /** Set if configured rules may take lines, or lines may name an identity. */
  readonly configured?: AppliedRules | undefined;
}

export function allocateDays(input: AllocateDays): Statement {
  const { ledger, epoch } = input;
  const int = input.wide ? "Int256" : "Int128";
  const usage = stagedTable(ledger.usage, epoch);
  const gaps = stagedTable(ledger.gaps, epoch);
  const { recipient } = ledger;
  const parts = ruleParts(ledger, epoch, input.configured);
  const { sets } = parts;
  const explained = { ...ledger.explained, ...parts.explained };
  const ticksUpTo = (ratio: string) => `intDiv(line_ticks * ${ratio} + components_offset, ${WHOLE_LINE})`;
  const costs = input.hasOtherCosts ? costParts(ticksUpTo("c.3")) : withoutCosts;
  const same = lineColumns(ledger, "same");
  const copied = [...lineColumns(ledger, "key"), ...same];
  const columns = [
    ...copied.map(({ rowColumn }) => rowColumn),
    recipient,
    ...Object.keys(explained),
    "provisional",
    "amount_hi",
    "amount_lo",
    ...Object.keys(costs.columns),
  ];
  return {
    query: `
INSERT INTO ${stagedTable(ledger.name, epoch)} (${columns.join(", ")})
WITH
  {decimal_places:UInt8} AS decimal_places,
  CAST(exp10(12 - decimal_places) AS ${int}) AS tick,
  rules AS (SELECT * FROM allocation_rules WHERE rules_hash = {rules_hash:String}${parts.rulesOfStage}),

  -- Identities are counted and sorted as their ranks among all names, in byte order: numbers sort and group several times
  -- faster than text, and a name is looked up once per entry of a dictionary, not once per fact.
  (
    SELECT groupArray(name) FROM (
      SELECT DISTINCT toString(${recipient}) AS name FROM (
        SELECT ${recipient} FROM ${usage} WHERE day IN {days:Array(Date)}${parts.factsOfStage} GROUP BY ${recipient}
        UNION ALL
        SELECT DISTINCT ${recipient} FROM ${sets} WHERE day IN {days:Array(Date)}
        UNION ALL
        SELECT '${ledger.nobody}'${parts.names}
      ) ORDER BY name
    )
  ) AS names,
  toUInt32(indexOf(names, '${ledger.nobody}')) AS nobody,${parts.nameExpressions}

  -- The tiers of each component, and the components of each product type, as arrays: found by one join a line.
  tiers_of AS (
    SELECT ${parts.ruleKey}, component, any(component_ratio) AS component_ratio, any(ratio_from) AS ratio_from, any(ratio_to) AS ratio_to,
      arraySort(t -> t.1, groupArray((tier, toString(kind), arrayMap(s -> toString(s), sources), toString(set_of), toString(allocation_detail)))) AS tiers
    FROM rules GROUP BY ${parts.ruleKey}, component
  ),
  components_of AS (
    SELECT ${parts.ruleKey}, arraySort(c -> c.1, groupArray((component, component_ratio, ratio_from, ratio_to, tiers))) AS components
    FROM tiers_of GROUP BY ${parts.ruleKey}
  ),

  lines AS (
    SELECT *,
      ${["total_cost", ...costs.ofBill].map((cost) => `CAST(reinterpret(${cost}, 'Int128') AS ${int}) AS raw${cost === "total_cost" ? "" : `_${cost}`}`).join(", ")},
      ${pointSql(hashOfPoint(ledger, "components", parts.pointText), `${WHOLE_LINE}`, int)} AS components_offset,
      ${pointSql(hashOfPoint(ledger, "residue component", parts.pointText), `${WHOLE_LINE}`, int)} AS residue_point,
      ${hashOfPoint(ledger, "recipients", parts.pointText)} AS recipients_hash,
      ${hashOfPoint(ledger, "residue recipient", parts.pointText)} AS residue_hash,
      ${parts.lineColumns}
    FROM (${linesOfBill(ledger, parts, costs.ofBill, input.hasRepeatedLines)})
  ),

  -- Ticks of each component: cumulative shares are rounded at the line's offset. What the line has below one tick goes to the
  -- component at another point of the line.
  components AS (
    SELECT * EXCEPT components, c.1 AS component, c.2 AS component_ratio, c.5 AS tiers,
      ${ticksUpTo("c.4")} - ${ticksUpTo("c.3")} AS ticks,
      residue_point >= c.3 AND residue_point < c.4 AS has_residue${costs.ofComponent}
    FROM (
      SELECT l.*, r.components AS components, toInt8(sign(raw)) AS direction, intDiv(abs(raw), tick) AS line_ticks
      FROM lines AS l
      INNER JOIN components_of AS r ON ${parts.findsRule}
    )
    ARRAY JOIN components AS c
    WHERE ticks != 0 OR has_residue
  ),

  -- Who could be found: (day, kind, source, resource). An owner counts only when there is exactly one.
  found AS (
    SELECT day, 'usage', toString(metric), toString(resource_id) FROM (
      SELECT day, metric, resource_id FROM ${usage} WHERE day IN {days:Array(Date)}${parts.factsOfStage} GROUP BY day, metric, resource_id HAVING sum(micro_units) > 0
    )
    UNION ALL
    SELECT day, 'even', toString(scope), toString(resource_id) FROM (
      SELECT DISTINCT day, scope, resource_id FROM ${sets} WHERE day IN {days:Array(Date)}
    )
    UNION ALL
    SELECT day, 'owner', 'owner', toString(resource_id) FROM ${sets}
    WHERE day IN {days:Array(Date)} AND scope = 'owner' GROUP BY day, resource_id HAVING uniqExact(${recipient}) = 1
  ),
  -- Of usage tiers the metrics that could not be had, of even tiers the sets: such a tier is not tried, or is tried and says so.
  gaps AS (SELECT day, toString(metric), toString(resource_id) FROM ${gaps} WHERE day IN {days:Array(Date)}),
  -- Days and resources with a part of somebody whose owner nobody knows: UNALLOCATED among others.
  unowned AS (
    SELECT DISTINCT day, toString(resource_id) FROM (
      SELECT day, resource_id FROM ${usage} WHERE day IN {days:Array(Date)}${parts.factsOfStage} AND ${recipient} = '${ledger.nobody}'
      UNION ALL
      SELECT day, resource_id FROM ${sets} WHERE day IN {days:Array(Date)} AND ${recipient} = '${ledger.nobody}'
    )
  ),
  chosen AS (
    SELECT *,
      -- Text that every row of the line repeats is made once, as an index into a dictionary.
      toLowCardinality(${parts.costType}) AS cost_type,
      toLowCardinality(${parts.method}) AS method,
      toLowCardinality(multiIf(go = 2, '${ledger.unknown}', outage, 'metrics_fetch_failed', chosen_tier.5)) AS detail,
      toLowCardinality(if(${parts.isWeighed}, source_key, '')) AS metric
    FROM (
      SELECT *,
        -- A line with such a part makes its rows in two goes (1: the others, 2: UNALLOCATED), each with one detail: to tell
        -- them apart row by row would make text of it, and every line would pay for that.
        arrayJoin(if(${parts.isFound} AND (day, set_resource) IN unowned, [1, 2], [0])) AS go
      FROM (
        SELECT *, chosen_tier.1 AS tier, chosen_tier.2 AS kind,
          arrayExists(t -> t.1 <= tier AND arrayExists(s -> (day, s, toString(resource_id)) IN gaps, t.3), tiers) AS outage,
          arrayStringConcat(chosen_tier.3, '+') AS source_key,
          ${parts.resourceOf("chosen_tier.4")} AS set_resource
        FROM (
          SELECT *,
            arrayFirst(t -> t.2 = 'terminal' OR ${parts.named}(
              arrayExists(s -> (day, ${parts.lookup("t.2")}, s, ${parts.resourceOf("t.4")}) IN found, t.3)
              AND NOT (t.2 = 'usage' AND arrayExists(s -> (day, s, toString(resource_id)) IN gaps, t.3))), tiers) AS chosen_tier
          FROM components
        )
      )
    )
  ),

  -- Recipients of each tier by rank, and the weights of all up to each of them: (day, kind, sources, resource) → [rank], [weight].
  recipients AS (
    ${usageRecipients(input, int, parts)}
    UNION ALL
    SELECT day, kind, source_key, resource_id, arraySort(arrayDistinct(arrayFlatten(groupArray(ranks)))) AS recipient_ranks,
      arrayMap(i -> CAST(i AS ${int}), arrayEnumerate(recipient_ranks)) AS recipient_totals
    FROM (
      SELECT s.day AS day, k.kind AS kind, k.source_key AS source_key, toString(s.resource_id) AS resource_id, s.ranks AS ranks
      FROM (
        SELECT day, scope, resource_id, groupArray(${rankOf(ledger)}) AS ranks FROM ${sets}
        WHERE day IN {days:Array(Date)} GROUP BY day, scope, resource_id
      ) AS s
      INNER JOIN (
        SELECT DISTINCT toString(kind) AS kind, arrayStringConcat(sources, '+') AS source_key, arrayJoin(sources) AS scope
        FROM rules WHERE kind IN ('even', 'owner')
      ) AS k ON toString(s.scope) = toString(k.scope)
    )
    GROUP BY day, kind, source_key, resource_id
  ),
  placed AS (
    SELECT c.*, if(empty(r.recipient_ranks), [${parts.sole}], r.recipient_ranks) AS ranks,
      if(empty(r.recipient_ranks), [CAST(1 AS ${int})], r.recipient_totals) AS totals
    FROM chosen AS c
    LEFT JOIN recipients AS r
      ON r.day = c.day AND r.kind = ${parts.lookup("c.kind")} AND r.source_key = c.source_key AND r.resource_id = c.set_resource
  ),

  -- Systematic rounding: the ticks up to each recipient, by the weights up to it, are rounded down at the line's offset. What the line has
  -- below one tick goes, whole, to the recipient at another point.
  shares AS (
    SELECT *, totals[-1] AS total_weight,
      ${pointSql("recipients_hash", "total_weight", int)} AS recipients_offset,
      arrayMap(total -> intDiv(ticks * total + recipients_offset, total_weight), totals) AS ticks_up_to,
      arrayMap((up_to, before) -> up_to - before, ticks_up_to, arrayShiftRight(ticks_up_to, 1)) AS parts,
      ${pointSql("residue_hash", "total_weight", int)} AS recipient_point,
      if(has_residue, arrayFirstIndex(total -> total > recipient_point, totals), 0) AS residue_position,
      abs(raw) - line_ticks * tick AS residue
    FROM placed
  ),
  rows AS (
    SELECT *, recipient${parts.rowExpressions}, toInt128(direction) * toInt128(part * tick + if(position = residue_position, residue, 0)) AS amount,
      intDiv(amount, 100000000) AS ten_thousandths,
      toInt64(if(abs(ten_thousandths) < 900000000000000000, ten_thousandths, 0)) AS hi${costs.ofRow}
    FROM shares
    ARRAY JOIN ranks AS recipient, parts AS part, arrayEnumerate(parts) AS position${costs.joined}
    WHERE (amount != 0 OR (raw = 0 AND position = residue_position)) AND (go = 0 OR (go = 2) = (recipient = nobody))
  )
SELECT ${copied.map(({ billColumn }) => billColumn).join(", ")}, names[recipient],
  ${Object.values(explained).join(", ")}, has({provisional_days:Array(Date)}, day),
  ${[
    "reinterpret(hi, 'Decimal(18, 4)')",
    "reinterpret(amount - toInt128(hi) * 100000000, 'Decimal(38, 12)')",
    ...Object.values(costs.columns),
  ].join(", ")}
FROM rows`,
    params: {
      days: input.days,
      provisional_days: input.provisional,
      revisions: input.revisions,
      rules_hash: input.rulesHash,
      decimal_places: input.decimalPlaces,
    },
  };
}

/** Rank of a recipient among all names, computed once per entry of the column's dictionary. */
function rankOf({ recipient }: SplitLedger): string {
  return `toUInt32(transform(${recipient}, names, arrayEnumerate(names), 0))`;
}

/**
 * Sums up the weights of usage tiers over the recipients, from facts collected into arrays in one pass over the table's
 * key: 0.4 s, whereas grouping by identity first, and then into arrays of (name, weight), took 1.8 s (2 M facts). An
 * identity's facts are then next to each other, and the running total at the last of them is the weight of all
 * identities up to it. With many samples per sum, the sums of a projection are fewer rows: 0.09 s instead of 0.26 s
 * (2.4 M samples by the hour).
 */
function usageRecipients(
  input: AllocateDays,
  int: string,
  { weighingRules, factsOfStage }: RuleParts,
): string {
  const { ledger } = input;
  const usage = `${stagedTable(ledger.usage, input.epoch)} WHERE day IN {days:Array(Date)}${factsOfStage}`;
  const weighed = input.sumsOfDay
    ? `(
        SELECT day, metric, resource_id, ${ledger.recipient}, sum(micro_units) AS weight FROM ${usage}
        GROUP BY day, metric, resource_id, ${ledger.recipient} HAVING weight > 0
      )`
    : `(SELECT *, micro_units AS weight FROM ${usage} AND micro_units > 0)`;
  const facts = `
      SELECT day, metric, resource_id, groupArray(${rankOf(ledger)}) AS ranks, groupArray(weight) AS weights
      FROM ${weighed} GROUP BY day, metric, resource_id`;
  const perSource = input.combinesMetrics
    ? `
      SELECT u.day AS day, k.source_key AS source_key, u.resource_id AS resource_id,
        arrayFlatten(groupArray(u.ranks)) AS ranks, arrayFlatten(groupArray(u.weights)) AS weights
      FROM (${facts}) AS u
      INNER JOIN (
        SELECT DISTINCT arrayStringConcat(sources, '+') AS source_key, arrayJoin(sources) AS metric FROM rules WHERE ${weighingRules}
      ) AS k ON toString(k.metric) = toString(u.metric)
      GROUP BY day, source_key, resource_id`
    : `SELECT day, toString(metric) AS source_key, resource_id, ranks, weights FROM (${facts})`;
  return `SELECT day, 'usage' AS kind, source_key, toString(resource_id) AS resource_id,
      arrayFilter((i, l) -> l, sorted, last) AS recipient_ranks, totals AS recipient_totals
    FROM (
      SELECT *, arraySort(ranks) AS sorted, arrayMap((i, next) -> i != next, sorted, arrayShiftLeft(sorted, 1)) AS last,
        arrayFilter((c, l) -> l, arrayCumSum(CAST(arraySort((w, i) -> i, weights, ranks) AS Array(${int}))), last) AS totals
      FROM (${perSource})
    )`;
}
