import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { createLogger } from "../../src/cli/logger.js";
import { configOf } from "../config/loading.js";
import { holds } from "../holds.js";
import { temporaryFolder } from "../stores.js";

const folder = temporaryFolder(t);
let files = 0;

/** Returns the output of a logger: one message of each level, the first with an error and a password. */
function logged(logging: string): string {
  files += 1;
  const file = join(folder, String(files));
  const fd = openSync(file, "w");
  const logger = createLogger(configOf(`logging: ${logging}`).logging, fd);
  const cause = Object.assign(new Error("the disk is full"), {
    code: "ENOSPC",
    client: { password: "hunter2" },
  });
  logger.fatal({ err: cause, tenant: "acme", postgres: { password: "hunter2" } }, "a fatal one");
  for (const level of ["error", "warn", "info", "debug"] as const) logger[level](`a message at ${level}`);
  closeSync(fd);
  return readFileSync(file, "utf8");
}

t.test("a log that cannot be written does not end the service", async (t) => {
  const fd = openSync("/dev/full", "w");
  t.teardown(() => closeSync(fd));
  const logger = createLogger(configOf("logging: { level: info }").logging, fd);
  for (let lines = 0; lines < 3; lines++) t.doesNotThrow(() => logger.info("the disk is full"));
});

t.test("logging.level hides messages of lower levels", async (t) => {
  for (const [level, count] of [
    ["debug", 5],
    ["info", 4],
    ["WARNING", 3],
    ["error", 2],
    ["critical", 1],
  ] as const) {
    t.equal(logged(`{ level: ${level} }`).trimEnd().split("\n").length, count, level);
  }
});

t.test("logging.format json writes one object per line, the level critical, and no password", async (t) => {
  const begun = Date.now();
  const [fatal, error] = logged("{ format: json }").split("\n");
  const line = JSON.parse(fatal ?? "");
  holds(t, line, {
    level: "critical",
    msg: "a fatal one",
    tenant: "acme",
    err: { type: "Error", message: "the disk is full", code: "ENOSPC", stack: /logger\.test/ },
  });
  const time = Date.parse(line.time);
  t.ok(begun <= time && time <= Date.now(), "the line has an ISO time");
  holds(t, JSON.parse(error ?? ""), { level: "error", msg: "a message at error" });
  t.notMatch(fatal, /hunter2/);
});

t.test("logging.format pretty writes readable text, and no password", async (t) => {
  const text = logged("{ format: pretty }");
  t.match(text, /CRITICAL: a fatal one/);
  t.match(text, /the disk is full/);
  t.match(text, /ERROR: a message at error/);
  t.notMatch(text, /hunter2|^\{/);
});
