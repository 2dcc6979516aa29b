import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import t from "tap";
import { installedNativeDir, usableBinaries } from "../../src/embedded-postgres/binaries.js";
import { copyBinaries } from "../../src/embedded-postgres/binaries-copy.js";
import { logger, nativeWithoutLinks, postgresFolder, startTestPostgres } from "./temporary.js";

const asRoot = process.getuid?.() === 0;
/** A user other than root, who owns nothing here. */
const stranger = asRoot ? { uid: 65534, gid: 65534 } : undefined;

/** A folder that everybody can enter, as for most installations. */
function openFolder(t: Parameters<typeof postgresFolder>[0]): string {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-open-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  return folder;
}

t.test("library links that npm ci --ignore-scripts omits are created", async (t) => {
  const native = nativeWithoutLinks(openFolder(t));
  t.notOk(existsSync(join(native, "lib/libicuuc.so.60")));
  const copies = join(openFolder(t), "copies");
  const binaries = await usableBinaries({ logger, user: stranger, copyFolders: [copies], nativeDir: native });
  t.equal(binaries.postgres, join(native, "bin/postgres"), "the programs are used in place");
  t.ok(lstatSync(join(native, "lib/libicuuc.so.60")).isSymbolicLink());
  t.notOk(existsSync(copies), "no copy is made");
});

t.test("a server starts from programs without links, below a folder that only we can enter", async (t) => {
  const outer = postgresFolder(t);
  chmodSync(outer, 0o700);
  const native = nativeWithoutLinks(outer);
  const copyFolders = [join(openFolder(t), "copies")];
  const postgres = await startTestPostgres(t, { nativeDir: native, copyFolders });
  const client = new pg.Client(postgres.connection);
  await client.connect();
  t.strictSame((await client.query("SELECT 1 AS one")).rows, [{ one: 1 }]);
  await client.end();
  t.equal(
    existsSync(copyFolders[0] ?? ""),
    asRoot,
    "root needs a copy for another user, and other users need none",
  );
});

t.test("a copy is made once, even by concurrent processes, and again if it is damaged", async (t) => {
  const native = join(openFolder(t), "native"); // The library is small, because the real one has 60 MB.
  mkdirSync(join(native, "bin"), { recursive: true });
  mkdirSync(join(native, "share/locale"), { recursive: true });
  writeFileSync(join(native, "bin/postgres"), "a program, for the sake of the copy", { mode: 0o700 });
  writeFileSync(join(native, "share/locale/de"), "a text", { mode: 0o600 });
  const folder = join(openFolder(t), "copies");
  let made = 0;
  const finish = async () => {
    made++;
  };
  const copies = await Promise.all([1, 2, 3].map(() => copyBinaries(native, folder, finish)));
  const [copy = ""] = copies;
  t.strictSame(copies, [copy, copy, copy]);
  t.strictSame(readdirSync(folder).length, 1, "slower processes leave nothing behind");
  t.equal(lstatSync(join(copy, "bin/postgres")).mode & 0o777, 0o755, "everybody can run the copy");
  t.equal(lstatSync(join(copy, "share/locale/de")).mode & 0o777, 0o644);
  const before = made;
  await copyBinaries(native, folder, finish);
  t.equal(made, before);
  truncateSync(join(copy, "bin/postgres"), 3);
  await copyBinaries(native, folder, finish);
  t.equal(made, before + 1);
  t.equal(lstatSync(join(copy, "bin/postgres")).size, lstatSync(join(native, "bin/postgres")).size);
  chmodSync(join(copy, "bin/postgres"), 0o777);
  await copyBinaries(native, folder, finish);
  t.equal(made, before + 2, "a copy that other users can write is not trusted");
});

t.test("a folder for copies that others can write to is skipped", async (t) => {
  const shared = join(openFolder(t), "shared");
  mkdirSync(shared);
  chmodSync(shared, 0o777);
  await t.rejects(
    copyBinaries(installedNativeDir(), shared, async () => undefined),
    {
      message: /belongs to another user or can be written by others/,
    },
  );
  t.strictSame(readdirSync(shared), []);
});

t.test("if no programs can be run, the error has every reason", async (t) => {
  const native = join(openFolder(t), "native");
  cpSync(installedNativeDir(), native, { recursive: true, verbatimSymlinks: true });
  rmSync(join(native, "lib/libicuuc.so.60.2"));
  const copyFolders = [join(openFolder(t), "copies")];
  await t.rejects(usableBinaries({ logger, user: stranger, copyFolders, nativeDir: native }), {
    message: /cannot be run\. .*native: .*libicuuc.*copies.*libicuuc/s,
  });
});
