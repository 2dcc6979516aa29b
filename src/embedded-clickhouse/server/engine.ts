/**
 * The only file that uses the native engine: it opens a session, runs one statement in it, and closes it.
 *
 * It uses chDB's native binding directly instead of its `Session` class: `Session.close()` waits for *every* query of
 * the process, so with a new session for each query, open sessions would accumulate behind one long query. Measured:
 * 2,682 sessions opened, queried and closed beside a running query with the bare binding, with nothing left behind.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { exceptionFromEngine } from "./exception.js";

/**
 * Result of a statement: its output, and the rows and bytes that were written (inserts) or returned (everything else).
 */
export interface EngineResult {
  readonly output: Uint8Array;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * One connection to the engine with its own settings, parameters and temporary tables. It runs one statement at a time.
 */
export interface EngineSession {
  /** Runs a statement. `format` is the output format if the statement names none. */
  run(sql: string, format?: string): Promise<EngineResult>;
  /**
   * Runs a writing statement without output. It is the only call of the engine that counts the rows of INSERT … SELECT.
   */
  write(sql: string): Promise<EngineResult>;
  /** Must not be called while a statement runs in the session, because that aborts the engine. */
  close(): void;
}

export interface Engine {
  open(settings?: Readonly<Record<string, string>>): EngineSession;
  close(): void;
}

interface NativeResult {
  readonly bytes: Uint8Array;
  readonly rowsRead: number;
  readonly bytesRead: number;
}

interface NativeBinding {
  CreateConnection(path: string, args: readonly string[]): object | null;
  CloseConnection(connection: object): void;
  QueryAsyncConnection(connection: object, sql: string, format: string): Promise<NativeResult>;
  InsertRawAsyncConnection(
    connection: object,
    sql: string,
    data: Buffer,
    countLines: boolean,
  ): Promise<{ readonly rowsWritten: number; readonly bytesWritten: number }>;
}

/** The binding requires some "data after the statement": a blank. */
const NO_DATA = Buffer.from(" ");
const NO_OUTPUT = new Uint8Array(0);

/** Opens the engine on `path`, and keeps it open through a root session that has the server's configuration. */
export function openEngine(path: string, configFile: string): Engine {
  const native = loadBinding();
  const connect = (args: readonly string[]): object => {
    const connection = native.CreateConnection(path, args);
    if (connection === null) throw new Error("the engine gave no connection");
    return connection;
  };
  const root = connect([`--config-file=${configFile}`]);
  return {
    open: (settings = {}) =>
      sessionOn(native, connect(Object.entries(settings).map(([name, value]) => `--${name}=${value}`))),
    close: () => native.CloseConnection(root),
  };
}

function sessionOn(native: NativeBinding, connection: object): EngineSession {
  return {
    async run(sql, format = "TabSeparated") {
      try {
        const result = await native.QueryAsyncConnection(connection, sql, format);
        return { output: result.bytes, rows: result.rowsRead, bytes: result.bytesRead };
      } catch (error) {
        throw exceptionFromEngine(error);
      }
    },
    async write(sql) {
      try {
        const result = await native.InsertRawAsyncConnection(connection, sql, NO_DATA, false);
        return { output: NO_OUTPUT, rows: result.rowsWritten, bytes: result.bytesWritten };
      } catch (error) {
        throw exceptionFromEngine(error);
      }
    },
    close: () => native.CloseConnection(connection),
  };
}

/** chDB's loader selects the binding for this platform. The package does not export it, so it is loaded by path. */
function loadBinding(): NativeBinding {
  const require = createRequire(import.meta.url);
  const loader: { loadNative(): NativeBinding } = require(
    join(dirname(require.resolve("chdb")), "dist/loader.js"),
  );
  return loader.loadNative();
}
