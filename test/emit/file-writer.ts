/** Writes a file, says so when it is to be renamed, and waits there to be killed. */
import { openOutputFolder, replaceFile } from "../../src/emit/output-folder.js";

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
