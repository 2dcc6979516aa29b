/** Reads a configuration file together with its `.env` file. */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type LoadOptions, type LoadResult, loadConfig } from "./load.js";
import { parseDotEnv } from "./reader/dotenv.js";
import type { ConfigProblem } from "./reader/problem.js";
import type { Environment } from "./reader/substitute.js";

export interface ReadOptions extends Omit<LoadOptions, "file"> {
  /** Must exist. If undefined, a `.env` beside the configuration is read if there is one. */
  envFile?: string;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "this user may not read it",
  EISDIR: "it is a folder, not a file",
  ENOTDIR: "a part of its path is not a folder",
};

type FileText = { text: string } | { problem: ConfigProblem; code: string };

async function textOf(file: string): Promise<FileText> {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file)) };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const reason = code.startsWith("ERR_ENCODING")
      ? "it is not UTF-8 text"
      : (REASONS[code] ?? `it cannot be read (${code})`);
    return { code, problem: { file, line: 1, path: "", message: reason } };
  }
}

async function dotEnv(
  file: string,
  required: boolean,
): Promise<{ values: Environment; problems: ConfigProblem[] }> {
  const source = await textOf(file);
  if ("text" in source) return parseDotEnv(source.text, file);
  const absent = !required && source.code === "ENOENT";
  return { values: {}, problems: absent ? [] : [source.problem] };
}

/** The real environment overrides the `.env` file, even with an empty value. */
export async function readConfig(
  file: string,
  { envFile, env, ...options }: ReadOptions,
): Promise<LoadResult> {
  const [source, extra] = await Promise.all([
    textOf(file),
    dotEnv(envFile ?? join(dirname(file), ".env"), envFile !== undefined),
  ]);
  if ("problem" in source) return { ok: false, problems: [source.problem, ...extra.problems] };
  const real = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
  const loaded = loadConfig(source.text, { ...options, file, env: { ...extra.values, ...real } });
  if (extra.problems.length === 0) return loaded;
  return { ok: false, problems: [...extra.problems, ...(loaded.ok ? [] : loaded.problems)] };
}
