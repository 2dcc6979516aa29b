import { mkdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { openOutputFolder, removeFile, replaceFile } from "../../../src/export/emitters/output-folder.js";
import { childProcess } from "../../runner/child.js";
import { temporaryFolder } from "../../stores.js";
import { namesIn } from "./emitting.js";

const signal = new AbortController().signal;

async function* pieces(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

function newFile(name: string, content: AsyncIterable<Buffer>) {
  return { name, content, beforeReplacing: async () => undefined, signal };
}

t.test("a file is replaced completely or stays unchanged", async (t) => {
  const path = join(temporaryFolder(t), "made", "when missing");
  const folder = await openOutputFolder(path, "acme");
  t.same(await replaceFile(folder, newFile("a.csv", pieces("one,", "two\n"))), {
    file: join(realpathSync(path), "a.csv"),
    bytes: 8,
  });
  const broken = async function* () {
    yield Buffer.from("half of ");
    throw new Error("the store has gone");
  };
  await t.rejects(replaceFile(folder, newFile("a.csv", broken())), /the store has gone/);
  await t.rejects(replaceFile(folder, newFile("b.csv", broken())), /the store has gone/);
  const late = {
    ...newFile("a.csv", pieces("newer")),
    beforeReplacing: () => Promise.reject(new Error("lost")),
  };
  await t.rejects(replaceFile(folder, late), /lost/);
  const stopped = { ...newFile("a.csv", pieces("newer")), signal: AbortSignal.abort() };
  await t.rejects(replaceFile(folder, stopped), { name: "AbortError" });
  t.equal(readFileSync(join(path, "a.csv"), "utf8"), "one,two\n");
  t.same(namesIn(path), ["a.csv"]);
});

t.test("files have mode 0640 in folders of mode 0750, whatever the umask allows", async (t) => {
  const umask = process.umask(0);
  t.teardown(() => process.umask(umask));
  const base = temporaryFolder(t);
  const folder = await openOutputFolder(join(base, "made", "when missing"), "acme");
  const { file } = await replaceFile(folder, newFile("a.csv", pieces("one\n")));
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  t.strictSame([join(base, "made"), folder.path, file].map(modeOf), ["750", "750", "640"]);
});

t.test(
  "a writer that is killed before the rename leaves the old file, and the next run cleans up",
  async (t) => {
    const path = temporaryFolder(t);
    writeFileSync(join(path, "a.csv"), "old");
    const writer = childProcess(t, "../export/emitters/file-writer.js", { folder: path, name: "a.csv" });
    t.equal(await writer.message(), "written");
    writer.kill("SIGKILL");
    await writer.exited;
    t.equal(readFileSync(join(path, "a.csv"), "utf8"), "old");
    const [unfinished = "", ...others] = namesIn(path);
    t.match(unfinished, /^\.chargehouse-/, "the unfinished file does not match *.csv");
    t.same(others, ["a.csv"]);
    await openOutputFolder(path, "globex");
    t.equal(
      namesIn(path).length,
      2,
      "a run of another tenant does not remove it, because its writer may still be running",
    );
    await openOutputFolder(path, "acme");
    t.same(namesIn(path), ["a.csv"]);
  },
);

t.test("nothing outside the folder is changed", async (t) => {
  const root = temporaryFolder(t);
  const outside = join(root, "outside.csv");
  writeFileSync(outside, "untouched");
  const path = join(root, "out");
  const folder = await openOutputFolder(path, "acme");
  for (const name of ["../outside.csv", "..", ".", "", ".hidden", "a/b.csv", "a\\b.csv", outside]) {
    await t.rejects(replaceFile(folder, newFile(name, pieces("x"))), RangeError, name);
  }
  symlinkSync(outside, join(path, "link.csv"));
  mkdirSync(join(path, "folder.csv"));
  for (const name of ["link.csv", "folder.csv"]) {
    await t.rejects(replaceFile(folder, newFile(name, pieces("x"))), /is not a plain file/);
    await removeFile(folder, join(folder.path, name));
  }
  await removeFile(folder, outside);
  await removeFile(folder, join(folder.path, "never-was.csv"));
  t.same(namesIn(path), ["folder.csv", "link.csv"]);
  t.equal(readFileSync(outside, "utf8"), "untouched");

  await t.test("the folder itself may be a link, because the operator configures it", async (t) => {
    symlinkSync(path, join(root, "linked"));
    const linked = await openOutputFolder(join(root, "linked"), "acme");
    t.equal(linked.path, realpathSync(path));
  });
});
