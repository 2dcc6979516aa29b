/** Writes a simulated bill to try the service with. */
import { resolve } from "node:path";
import { writeAwsBill } from "../simulator/index.js";
import { type Command, type Options, parseOptions, UsageError } from "./command.js";
import { whole } from "./simulation.js";
import { writing } from "./writing.js";

const options = {
  folder: {
    type: "string",
    value: "FOLDER",
    help: "where to write it; its files of the same names are replaced",
  },
  days: { type: "string", value: "N", default: "60", help: "days back to yesterday that it covers" },
  resources: { type: "string", value: "N", default: "40", help: "resources, each with a line a day" },
  again: {
    type: "boolean",
    default: false,
    help: "deliver the newest month once more, with one day corrected",
  },
} as const satisfies Options;

export const sampleBill: Command = {
  usage: "sample-bill --folder FOLDER [--days N] [--resources N] [--again]",
  options,
  async run(args, io) {
    const given = parseOptions(args, options);
    const { folder } = given;
    if (folder === undefined) throw new UsageError("--folder FOLDER is required");
    const bill = {
      folder: resolve(folder),
      seed: 1,
      again: given.again,
      days: whole("days", given.days, 3, 360),
      resources: whole("resources", given.resources, 1, 10_000),
    };
    const { months, corrected } = await writing("folder", folder, () => writeAwsBill(bill));
    const names = months.map((month) => month.slice(0, 7)).join(", ");
    io.stdout.write(
      corrected === undefined
        ? `Wrote the bills of ${names} below ${folder}.\n`
        : `Wrote the bill of ${names} again below ${folder}: more was metered on ${corrected}.\n`,
    );
    return 0;
  },
};
