/** A tenant whose costs are measured and priced here. */
import type { PrometheusSource } from "../prometheus/source.js";
import type { FirstDay } from "./first-day.js";
import type { MeteredProduct } from "./price-day.js";
import type { ReplicaNotes } from "./replica-notes.js";
import type { SilentMetrics } from "./silent-metrics.js";
import type { UsageMetric } from "./usage.js";

export interface MeteredTenant {
  /** The one resource that everything is billed and measured for. */
  readonly resourceId: string;
  /** Currency of all prices. */
  readonly currency: string;
  readonly products: readonly MeteredProduct[];
  readonly usage: readonly UsageMetric[];
  /** Identities that are active on every day, because the configuration names them. */
  readonly namedIdentities: readonly string[];
  /**
   * `no_bill`: a day without any samples of a product is incomplete, and an upstream that is down fails the window.
   * `partial_bill`: the day is billed for the other products, as a partial day, which is provisional like a day without
   * its usage.
   */
  readonly whenUnmeasured: "no_bill" | "partial_bill";
  /** Undefined if nothing is read from Prometheus. */
  readonly source: PrometheusSource | undefined;
  /** Days before it have no data. Undefined if nothing is read from Prometheus. */
  readonly firstDay: FirstDay | undefined;
  readonly silent: SilentMetrics | undefined;
  readonly replicas: ReplicaNotes | undefined;
  readonly stepSeconds: number;
  readonly parallelQueries: number;
}
