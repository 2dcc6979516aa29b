/**
 * Keeps REPLACE PARTITION whole under kill -9. The engine first puts the new parts on disk, and then covers the old ones. If it is
 * killed in between, it comes back with both, and a day counts twice (measured: 24 of 25 kills during such a statement). Each of
 * these statements is therefore recorded before it runs, and run again at the next start, before anyone reads. The result is the
 * same however often it runs, as long as nobody changes its source, and nobody can have done that: no response was sent yet.
 */
import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../../error-message.js";
import type { Engine } from "./engine.js";
import { tokensOf } from "./lexer.js";
import { applySessionSettings, type SessionSettings } from "./session-settings.js";
import { SESSION_DEFAULTS } from "./settings.js";

/** A statement with all that it needs to run again. */
export interface Replacement extends SessionSettings {
  readonly sql: string;
}

export interface Replacements {
  /** Runs the statement while it is written down. */
  during<T>(replacement: Replacement, run: () => Promise<T>): Promise<T>;
  /** Runs again what a predecessor was killed in. Returns what could not be, in words. */
  redo(engine: Engine): Promise<readonly string[]>;
}

interface Note {
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

/** @param folder theirs alone; made when it is not there */
export async function openReplacements(folder: string): Promise<Replacements> {
  await mkdir(folder, { recursive: true, mode: 0o700 });

  return {
    async during(replacement, run) {
      const file = join(folder, `${Date.now()}-${randomUUID()}.json`);
      await write(file, noteOf(replacement));
      await syncFolder(folder);
      try {
        return await run();
      } finally {
        await rm(file);
        // A note that came back after a loss of power could replace a day by a source that is empty by now.
        await syncFolder(folder);
      }
    },
    async redo(engine) {
      const problems: string[] = [];
      for (const name of (await readdir(folder)).sort()) {
        const file = join(folder, name);
        const note = parsed(await readFile(file, "utf8"));
        const problem = note && (await redone(engine, note));
        if (problem !== undefined) problems.push(problem);
        await rm(file);
        await syncFolder(folder);
      }
      return problems;
    },
  };
}

function noteOf({ sql, database, settings, parameters }: Replacement): Note {
  return { sql, database, settings: [...settings], parameters: [...parameters] };
}

/** Undefined: it was killed while it wrote the note, and ran nothing. */
function parsed(text: string): Note | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function redone(engine: Engine, note: Note): Promise<string | undefined> {
  const session = engine.open(SESSION_DEFAULTS);
  try {
    await applySessionSettings(session, {
      database: note.database,
      settings: new Map(note.settings),
      parameters: new Map(note.parameters),
    });
    await session.run(note.sql);
    return undefined;
  } catch (error) {
    return `${note.sql}: ${errorMessage(error)}`;
  } finally {
    session.close();
  }
}

async function write(file: string, note: Note): Promise<void> {
  await synced(await open(file, "wx", 0o600), (handle) => handle.writeFile(JSON.stringify(note)));
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
