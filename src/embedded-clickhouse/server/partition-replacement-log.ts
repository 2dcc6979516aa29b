/**
 * A log of REPLACE PARTITION statements, which keeps them atomic under kill -9. The engine first puts the new parts on disk, and then marks the old
 * ones as replaced. If it is killed in between, it starts with both, and a day counts twice (measured: 24 of 25 kills
 * during such a statement). Each of these statements is therefore recorded before it runs, and run again at the next
 * start, before anything is read. The result is the same however often it runs, as long as its source does not change.
 * It cannot have changed, because no response was sent yet.
 */
import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../common/error-message.js";
import type { Engine } from "./engine.js";
import { tokensOf } from "./lexer.js";
import { applySessionSettings, type SessionSettings } from "./session-settings.js";
import { SESSION_DEFAULTS } from "./settings.js";

/** A statement with everything that it needs to run again. */
export interface PartitionReplacement extends SessionSettings {
  readonly sql: string;
}

export interface ReplacementLog {
  /** Records the statement while `run` executes it. */
  during<T>(replacement: PartitionReplacement, run: () => Promise<T>): Promise<T>;
  /** Reruns statements that a predecessor was killed in. Returns descriptions of those that failed. */
  redo(engine: Engine): Promise<readonly string[]>;
}

interface Entry {
  readonly sql: string;
  readonly database: string | undefined;
  readonly settings: readonly (readonly [string, string])[];
  readonly parameters: readonly (readonly [string, string])[];
}

/** @param sql the whole statement, as latin1 */
export function replacesPartitions(sql: string): boolean {
  let first: string | undefined;
  let before: string | undefined;
  for (const { kind, text } of tokensOf(sql)) {
    first ??= text;
    if (first !== "ALTER") return false;
    if (kind === "word" && text === "PARTITION" && before === "REPLACE") return true;
    before = kind === "word" ? text : undefined;
  }
  return false;
}

/** @param folder used for nothing else; created if it is missing */
export async function openReplacementLog(folder: string): Promise<ReplacementLog> {
  await mkdir(folder, { recursive: true, mode: 0o700 });

  return {
    async during(replacement, run) {
      const file = join(folder, `${Date.now()}-${randomUUID()}.json`);
      await write(file, entryOf(replacement));
      await syncFolder(folder);
      try {
        return await run();
      } finally {
        await rm(file);
        // If the entry came back after a power failure, it could replace a day with a source that is empty by now.
        await syncFolder(folder);
      }
    },
    async redo(engine) {
      const problems: string[] = [];
      for (const name of (await readdir(folder)).sort()) {
        const file = join(folder, name);
        const entry = parsed(await readFile(file, "utf8"));
        const problem = entry && (await rerun(engine, entry));
        if (problem !== undefined) problems.push(problem);
        await rm(file);
        await syncFolder(folder);
      }
      return problems;
    },
  };
}

function entryOf({ sql, database, settings, parameters }: PartitionReplacement): Entry {
  return { sql, database, settings: [...settings], parameters: [...parameters] };
}

/** Returns undefined for an incomplete entry: the process was killed while it wrote it, and ran nothing. */
function parsed(text: string): Entry | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function rerun(engine: Engine, entry: Entry): Promise<string | undefined> {
  const session = engine.open(SESSION_DEFAULTS);
  try {
    await applySessionSettings(session, {
      database: entry.database,
      settings: new Map(entry.settings),
      parameters: new Map(entry.parameters),
    });
    await session.run(entry.sql);
    return undefined;
  } catch (error) {
    return `${entry.sql}: ${errorMessage(error)}`;
  } finally {
    session.close();
  }
}

async function write(file: string, entry: Entry): Promise<void> {
  await synced(await open(file, "wx", 0o600), (handle) => handle.writeFile(JSON.stringify(entry)));
}

async function syncFolder(folder: string): Promise<void> {
  await synced(await open(folder, "r"), async () => undefined);
}

async function synced(handle: FileHandle, write: (handle: FileHandle) => Promise<void>): Promise<void> {
  try {
    await write(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
