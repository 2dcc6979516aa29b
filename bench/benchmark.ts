/** What each benchmark is given, and gives. */
import type { OpenedStores } from "../src/store/open-stores.js";
import type { TenantStore } from "../src/store/stores.js";
import type { Figure } from "./measure.js";
import type { Service } from "./service.js";

export interface Bench {
  readonly stores: OpenedStores;
  /** The tenant whose data is read. */
  readonly store: TenantStore;
  /** Chargeback rows of that tenant. */
  readonly rows: number;
  readonly repeat: number;
  /** How long each load of the HTTP API lasts. */
  readonly seconds: number;
  readonly enginePid: number | undefined;
  readonly folder: string;
  /** The HTTP service as users run it, a process of its own; started when first asked for. */
  readonly service: () => Promise<Service>;
  /** Notes what is being done, for who waits. */
  readonly say: (text: string) => void;
}

export type Benchmark = (bench: Bench) => Promise<Figure[]>;
