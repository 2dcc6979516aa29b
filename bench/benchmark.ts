/** Input and output of a benchmark. */
import type { OpenedStores } from "../src/stores/open-stores.js";
import type { TenantStore } from "../src/stores/stores.js";
import type { Figure } from "./measure.js";
import type { BenchService } from "./service.js";

export interface Bench {
  readonly stores: OpenedStores;
  /** The tenant whose data is read. */
  readonly store: TenantStore;
  /** Chargeback rows of that tenant. */
  readonly rows: number;
  readonly repeat: number;
  /** Seconds of each load on the HTTP API. */
  readonly seconds: number;
  readonly enginePid: number | undefined;
  readonly folder: string;
  /** The HTTP service in a process of its own, as users run it; started on first use. */
  readonly service: () => Promise<BenchService>;
  /** Prints the current activity. */
  readonly say: (text: string) => void;
}

export type Benchmark = (bench: Bench) => Promise<Figure[]>;
