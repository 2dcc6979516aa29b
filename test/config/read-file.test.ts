import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { readConfig } from "../../src/config/read-file.js";
import { holds } from "../holds.js";
import { testEcosystems } from "./loading.js";

async function folder(
  t: { teardown(fn: () => Promise<void>): void },
  files: Record<string, string | Buffer>,
) {
  const path = await mkdtemp(join(tmpdir(), "chargehouse-config-"));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return path;
}

const CONFIG = `api:\n  host: \${HOST:-fallback}\n  port: \${PORT:-1}\n`;

t.test(
  "a .env file beside the configuration is read, and the real environment overrides it, even with an empty value",
  async (t) => {
    const path = await folder(t, { "c.yaml": CONFIG, ".env": "HOST=from-file\nPORT=2\n" });
    const result = await readConfig(join(path, "c.yaml"), {
      env: { PORT: "3", HOST: undefined },
      ecosystems: testEcosystems,
    });
    holds(t, result, { ok: true, config: { api: { host: "from-file", port: 3 } } });
    const empty = await readConfig(join(path, "c.yaml"), { env: { PORT: "" }, ecosystems: testEcosystems });
    holds(t, empty, { ok: false, problems: [{ line: 3, path: "api.port" }] });
  },
);

t.test("without a .env file, defaults of variables are used", async (t) => {
  const path = await folder(t, { "c.yaml": CONFIG });
  const result = await readConfig(join(path, "c.yaml"), { env: {}, ecosystems: testEcosystems });
  holds(t, result, { ok: true, config: { api: { host: "fallback", port: 1 } } });
});

t.test("a named env file is read instead of .env, and must exist", async (t) => {
  const path = await folder(t, { "c.yaml": CONFIG, ".env": "PORT=2", other: "PORT=4" });
  const options = { env: {}, ecosystems: testEcosystems };
  const read = await readConfig(join(path, "c.yaml"), { ...options, envFile: join(path, "other") });
  holds(t, read, { ok: true, config: { api: { port: 4 } } });
  const missing = await readConfig(join(path, "c.yaml"), { ...options, envFile: join(path, "missing") });
  holds(t, missing, {
    ok: false,
    problems: [{ file: join(path, "missing"), message: "there is no such file" }],
  });
});

t.test("problems of the .env file are reported with those of the configuration", async (t) => {
  const path = await folder(t, { "c.yaml": "api: {port: 0}", ".env": "what\n" });
  const result = await readConfig(join(path, "c.yaml"), { env: {}, ecosystems: testEcosystems });
  holds(t, result, {
    ok: false,
    problems: [
      { file: join(path, ".env"), line: 1 },
      { file: join(path, "c.yaml"), line: 1, path: "api.port" },
    ],
  });
});

t.test("a file that cannot be read is a problem with the reason", async (t) => {
  const path = await folder(t, { latin: Buffer.from([0x61, 0x3a, 0x20, 0xe9]), file: "" });
  await mkdir(join(path, "folder"));
  const reasons = {
    missing: "there is no such file",
    folder: "it is a folder, not a file",
    latin: "it is not UTF-8 text",
  };
  for (const [name, message] of Object.entries(reasons)) {
    const result = await readConfig(join(path, name), { env: {}, ecosystems: testEcosystems });
    holds(t, result, { ok: false, problems: [{ file: join(path, name), line: 1, message }] });
  }
  holds(t, await readConfig(join(path, "file", "c.yaml"), { env: {}, ecosystems: testEcosystems }), {
    ok: false,
  });
});
