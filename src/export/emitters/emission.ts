/** The context of emitting the files of a tenant. */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { FileEmitter, FilePipeline } from "../../config/settings/emitters.js";

export interface Emission {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
  readonly tenantId: string;
  /** Epoch of the lease, which is checked before a file is replaced. */
  readonly epoch: number;
  /** UTC day. */
  readonly today: string;
  /** First UTC day within the retention of each pipeline. */
  readonly keepFrom: Readonly<Record<FilePipeline, string>>;
  /** First UTC day that is still gathered. */
  readonly gatheredFrom: string;
  readonly emitters: readonly FileEmitter[];
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Called before a file is written. */
  readonly onFile: (firstDay: string) => Promise<void>;
}

/** One or several files of an emitter that could not be written. */
export interface EmissionFailure {
  /** Null for several files. */
  readonly date: string | null;
  readonly message: string;
}
