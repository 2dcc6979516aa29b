/** Writes a file, prints a message before it is renamed, and waits to be killed. */
import { openOutputFolder, replaceFile } from "../../../src/export/emitters/output-folder.js";

const { folder, name } = JSON.parse(process.argv[2] ?? "{}");
await replaceFile(await openOutputFolder(folder, "acme"), {
  name,
  content: (async function* () {
    yield Buffer.from("new");
  })(),
  beforeReplacing: async () => {
    console.log("written");
    await new Promise((resolve) => setTimeout(resolve, 1_000_000));
  },
  signal: new AbortController().signal,
});
