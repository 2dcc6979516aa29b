/** Creates a folder of migrations for one test. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";

export function migrationFolder(t: Test, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-migrations-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}
