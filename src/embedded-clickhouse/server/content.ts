/** Facts about the engine that responses need: content types of formats, version, time zone. Read once at the start. */
import type { Engine } from "./engine.js";

export interface EngineFacts {
  readonly version: string;
  readonly timezone: string;
  /** Lower-case names of all functions and all table functions. */
  readonly functions: ReadonlySet<string>;
  readonly tableFunctions: ReadonlySet<string>;
  contentType(format: string): string;
}

export async function readFacts(engine: Engine): Promise<EngineFacts> {
  const session = engine.open();
  try {
    const read = async (sql: string) => {
      const { output } = await session.run(sql, "TSV");
      return Buffer.from(output)
        .toString("utf8")
        .trimEnd()
        .split("\n")
        .map((line) => line.split("\t"));
    };
    const types = new Map(
      (await read("SELECT lower(name), content_type FROM system.formats WHERE is_output")).map(
        ([name = "", type = ""]) => [name, type],
      ),
    );
    const [[version = "", timezone = ""] = []] = await read("SELECT version(), timezone()");
    const names = async (table: string) =>
      new Set((await read(`SELECT lower(name) FROM system.${table}`)).map(([name = ""]) => name));
    return {
      functions: await names("functions"),
      tableFunctions: await names("table_functions"),
      version,
      timezone,
      contentType: (format) => types.get(format.toLowerCase()) ?? "text/plain; charset=UTF-8",
    };
  } finally {
    session.close();
  }
}
