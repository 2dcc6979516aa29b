/** Reads the parameters of a path by their schema. */
import type { TObject } from "@sinclair/typebox";
import type { InputProblem } from "../errors.js";
import { expected } from "./expected.js";
import { readText } from "./read-text.js";

export function readPath(
  schema: TObject,
  params: Readonly<Record<string, unknown>>,
  problems: InputProblem[],
) {
  const parameters = Object.entries(schema.properties).map(([name, parameter]) => {
    const reading = readText(parameter, String(params[name]));
    if (reading === undefined) {
      const detail = `\`${name}\` must be ${expected(parameter)}.`;
      problems.push({ in: "path", name, detail, code: "invalid" });
    }
    return [name, reading?.value];
  });
  return Object.fromEntries(parameters);
}
