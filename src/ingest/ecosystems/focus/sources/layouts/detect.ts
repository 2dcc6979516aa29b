/** Detects the layout from the paths of the files. */
import { hasDataExtension } from "../file-names.js";
import type { StoredFile, Waiting } from "../files/file-source.js";
import type { LayoutName } from "../settings.js";
import { isDataExport } from "./aws-data-exports.js";
import { isAzureExport } from "./azure-exports.js";

const OCI = /(?:^|\/)FOCUS Reports\/20\d\d\/\d\d\/\d\d\/[^/]+$/;
/** A part of the path is enough to recognise the layout, even if `location` begins too far below. */
const AWS_PART = /(?:^|\/)BILLING_PERIOD=[^/]*\//i;
const AZURE_RUN = /(?:^|\/)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/[^/]+$/i;

function shapeOf(name: string): LayoutName {
  if (isDataExport(name) || AWS_PART.test(name)) return "aws_data_exports";
  if (isAzureExport(name) || AZURE_RUN.test(name)) return "azure_exports";
  return OCI.test(name) ? "oci" : "plain";
}

/**
 * Uses only the paths of the bills, so the layout is known from the first file on, before any manifest is there. If the
 * paths disagree, nothing is taken: read with the wrong layout, a bill can be charged twice.
 */
export function detect(files: readonly StoredFile[]): LayoutName | { readonly waiting: Waiting[] } {
  const examples = new Map<LayoutName, string>();
  for (const { name } of files) {
    if (!hasDataExtension(name)) continue;
    const shape = shapeOf(name);
    const known = examples.get(shape);
    if (known === undefined || name < known) examples.set(shape, name);
  }
  const [only = "plain", ...others] = [...examples.keys()];
  if (others.length === 0) return only;
  const waiting = [...examples]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([shape, name]) => ({
      name,
      reason: `it is laid out as ${shape}, other files here are not: set \`layout\`, or make a source of each`,
    }));
  return { waiting };
}
