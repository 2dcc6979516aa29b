/** What emitting works with. */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { FileEmitter, FilePipeline } from "../config/emitters.js";

export interface Emission {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
  readonly tenantId: string;
  /** Of the lease: it is checked before a file is replaced. */
  readonly epoch: number;
  /** UTC. */
  readonly today: string;
  /** First UTC day that is kept, of each pipeline. */
  readonly keepFrom: Readonly<Record<FilePipeline, string>>;
  /** First UTC day that is still gathered. */
  readonly gatheredFrom: string;
  readonly emitters: readonly FileEmitter[];
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Told before a file is written. */
  readonly onFile: (firstDay: string) => Promise<void>;
}

/** A file, or all of an emitter's, that could not be written. */
export interface EmissionFailure {
  /** Null when it concerns several. */
  readonly date: string | null;
  readonly message: string;
}
