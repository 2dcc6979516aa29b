/**
 * Finds series that are in a Prometheus once for each of its replicas. Two servers that scrape the same targets write
 * every series twice, distinguished by a label such as `prometheus_replica`. An expression that adds such series up
 * counts everything twice, and its result does not show it.
 *
 * The expression is parsed. Each of its selectors whose series are added up is counted by itself, in one instant query.
 */
import { parser } from "@prometheus-io/lezer-promql";
import { UpstreamError } from "../../upstream/http/upstream-error.js";
import { isSample, type PrometheusSeries } from "./response.js";
import { type PrometheusSource, withStep } from "./source.js";

type Node = ReturnType<typeof parser.parse>["topNode"];

/** Labels that Prometheus Operator, Thanos and Mimir use to distinguish replicas. */
const REPLICA_LABELS = ["prometheus_replica", "replica", "__replica__"];

/** Aggregations whose result is the same, or nearly, if every series exists several times. */
const MERGING = new Set(["Max", "Min", "Avg", "Group", "Quantile", "Stddev", "Stdvar"]);
/** Aggregations that choose among the series and keep their labels. */
const CHOOSING = new Set(["Topk", "Bottomk", "LimitK", "LimitRatio"]);

export interface CountingSelector {
  /** As written, such as `sent_bytes{job="a"}`. */
  readonly selector: string;
  readonly label: string;
}

/**
 * Returns selectors of an expression that would count replicas several times, for each label that may distinguish them.
 * A label that the expression names in a selector or a grouping is left out, because its author knows it. So is an
 * expression that cannot be parsed.
 */
export function selectorsCountingReplicas(
  expression: string,
  labels: readonly string[] = REPLICA_LABELS,
): CountingSelector[] {
  const tree = parser.parse(expression);
  const selectors: Node[] = [];
  let isWrong = false;
  tree.iterate({
    enter({ type, node }) {
      isWrong ||= type.isError;
      if (type.name === "VectorSelector") selectors.push(node);
    },
  });
  if (isWrong) return [];
  const text = (node: Node) => expression.slice(node.from, node.to);
  const found = selectors.flatMap((node) =>
    labels.flatMap((label) => (countsReplicas(node, label, text) ? [{ selector: text(node), label }] : [])),
  );
  const distinct = new Map(found.map((each) => [JSON.stringify(each), each]));
  return [...distinct.values()];
}

function countsReplicas(selector: Node, label: string, text: (node: Node) => string): boolean {
  const names = (node: Node) => labelNames(node, text).includes(label);
  if (names(selector)) return false;
  let child = selector;
  for (let node = selector.parent; node !== null; child = node, node = node.parent) {
    if (node.name === "BinaryExpr" && isFilter(node, child)) return false;
    if (node.name !== "AggregateExpr") continue;
    const operation = node.getChild("AggregateOp")?.firstChild?.name ?? "";
    const modifier = node.getChild("AggregateModifier");
    if (modifier !== null && names(modifier)) return false;
    const keepsLabel = modifier?.firstChild?.name === "Without" || CHOOSING.has(operation);
    if (keepsLabel) continue;
    return !MERGING.has(operation);
  }
  return true;
}

/** Returns true if a side of `and` or `unless` only decides which series of the other side stay. */
function isFilter(node: Node, side: Node): boolean {
  const isSet = node.getChild("And") !== null || node.getChild("Unless") !== null;
  return isSet && node.lastChild?.from === side.from;
}

/** Names of labels in matchers or in a grouping, including quoted ones. */
function labelNames(node: Node, text: (node: Node) => string): string[] {
  const names: string[] = [];
  node.cursor().iterate(({ name, node: inner }) => {
    if (name === "LabelName") names.push(text(inner));
    if (name === "QuotedLabelName") names.push(text(inner).slice(1, -1));
  });
  return names;
}

export interface ReplicatedQuery {
  /** PromQL. `$step` in it is replaced by the step. */
  readonly expression: string;
  readonly stepSeconds: number;
  /** End of a step that has samples, in seconds since 1970. Default: now. */
  readonly at?: number | undefined;
  /** Labels of its result that do not mean a replica, such as the one with the identity. */
  readonly meant?: readonly string[];
  /** More labels that may distinguish replicas. */
  readonly labels?: readonly string[];
}

/**
 * Returns a sentence for each label that distinguishes copies of the same series. If the check fails, it returns none,
 * because the expression itself may well succeed.
 */
export async function replicaSentences(
  source: PrometheusSource,
  { expression, stepSeconds, at, meant = [], labels = [] }: ReplicatedQuery,
  signal: AbortSignal,
): Promise<string[]> {
  const candidates = [...new Set([...REPLICA_LABELS, ...labels])].filter((label) => !meant.includes(label));
  const counted = selectorsCountingReplicas(withStep(expression, stepSeconds), candidates);
  if (counted.length === 0) return [];
  const counts = counted.map((each, index) => countOf(each, index, stepSeconds));
  const found = await source.labelsNow(counts.join(" or "), stepSeconds, signal, at).catch((error) => {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    return [];
  });
  return candidates.flatMap((label) => {
    const most = Math.max(...found.filter(({ labels }) => labels[BY] === label).map(countIn));
    return most > 1
      ? [
          `each series is there up to ${most} times, by the label ${label}, and counts as often: use \`max without (${label})\``,
        ]
      : [];
  });
}

/**
 * Labels of the count's result and of the counted series. The name of a metric is kept as a label, because a selector
 * may find several metrics.
 */
const BY = "told_apart_by";
const METRIC = "name_of_metric";

function countOf({ selector, label }: CountingSelector, index: number, stepSeconds: number): string {
  const series = `label_replace(last_over_time(${selector}[${stepSeconds}s]), "${METRIC}", "$1", "__name__", "(.+)")`;
  // Each count has a label of its own, because `or` keeps only the first of two results with equal labels.
  const counts = `label_replace(max(count without (${label}) (${series})), "${BY}", "${label}", "", "")`;
  return `label_replace(${counts}, "selector", "${index}", "", "")`;
}

function countIn({ samples }: PrometheusSeries): number {
  const [sample] = Array.isArray(samples) ? samples : [];
  return isSample(sample) ? Number(sample[1]) : 0;
}
