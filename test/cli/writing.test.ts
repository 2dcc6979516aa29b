/** Files that commands write are complete, or unchanged. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import t from "tap";
import { CommandError } from "../../src/cli/command.js";
import { writeWhole } from "../../src/cli/writing.js";

const whole = () => Readable.from([Buffer.from("a,b\n"), Buffer.from("1,2\n")]);
const broken = () =>
  Readable.from(
    (async function* () {
      yield Buffer.from("a,b\n");
      throw new Error("the store went away");
    })(),
  );

t.test("a file appears when it is complete", async (t) => {
  const folder = t.testdir();
  const file = join(folder, "costs.csv");
  await writeWhole("output", file, whole());
  t.equal(readFileSync(file, "utf8"), "a,b\n1,2\n");
  t.strictSame(readdirSync(folder), ["costs.csv"]);
});

t.test("an interrupted write leaves the file unchanged, and no other file", async (t) => {
  const folder = t.testdir({ "costs.csv": "of yesterday\n" });
  const file = join(folder, "costs.csv");
  await t.rejects(writeWhole("output", file, broken()), { message: "the store went away" });
  t.equal(readFileSync(file, "utf8"), "of yesterday\n");
  await t.rejects(writeWhole("output", join(folder, "new.csv"), broken()), {
    message: "the store went away",
  });
  t.strictSame(readdirSync(folder), ["costs.csv"]);
});

t.test("a replaced file keeps its mode, and a symbolic link keeps its target", async (t) => {
  const folder = t.testdir({ "costs.csv": "of yesterday\n" });
  const file = join(folder, "costs.csv");
  chmodSync(file, 0o600);
  const link = join(folder, "newest.csv");
  symlinkSync("costs.csv", link);
  await writeWhole("output", link, whole());
  t.equal(lstatSync(link).isSymbolicLink(), true);
  t.equal(readlinkSync(link), "costs.csv");
  t.equal(readFileSync(file, "utf8"), "a,b\n1,2\n");
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.strictSame(readdirSync(folder).sort(), ["costs.csv", "newest.csv"]);
});

t.test("a pipe is written as the content arrives", async (t) => {
  const pipe = join(t.testdir(), "pipe");
  execFileSync("mkfifo", [pipe]);
  const [read] = await Promise.all([readFile(pipe, "utf8"), writeWhole("output", pipe, whole())]);
  t.equal(read, "a,b\n1,2\n");
  t.equal(lstatSync(pipe).isFIFO(), true);
});

t.test("a path that cannot be written is reported with its option", async (t) => {
  const file = join(t.testdir(), "missing", "costs.csv");
  const error: unknown = await writeWhole("output", file, whole()).catch((each: unknown) => each);
  if (!(error instanceof CommandError)) throw new Error("it was written");
  t.equal(
    error.message,
    `--output: ${file} cannot be written: ENOENT: no such file or directory, open '${file}'`,
  );
});
