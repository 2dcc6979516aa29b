/**
 * Names of emitted files. A template is a plain file name with placeholders; whatever their values are, the result is a file
 * name too: nothing of it leads out of its folder, and two different values never give the same name.
 */
import { parse } from "node:path";
import type { Parsed } from "./setting.js";

export const filePlaceholders = ["tenant_id", "tenant_name", "date", "month", "emitter", "pipeline"] as const;
export type FilePlaceholder = (typeof filePlaceholders)[number];

/** File systems take 255 bytes; the rest is for what stands in front of a name while it is written. */
export const LONGEST_FILE_NAME = 200;

const listed = filePlaceholders.map((name) => `{${name}}`).join(", ");

export const TEMPLATE_EXPECTED = `a file name of printable characters, without folders, with ${listed}`;

const PLACEHOLDER = /\{([^{}]*)\}/g;

export function parseTemplate(text: string): Parsed {
  const names = [...text.matchAll(PLACEHOLDER)].map(([, name = ""]) => name);
  const unknown = names.some((name) => !filePlaceholders.some((known) => known === name));
  if (unknown || /[{}]/.test(text.replaceAll(PLACEHOLDER, ""))) {
    return { problem: `must have no other braces than those of ${listed}` };
  }
  if (/[/\\]/.test(text)) return { problem: "must be a file name: folders stand in output_dir" };
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return { problem: "must hold no control characters" };
  if (/^[. ]|[. ]$/.test(text)) return { problem: "must not begin or end with a full stop or a space" };
  return { value: text };
}

/** Which placeholders of the period a template has. */
export function filePeriods(template: string): { readonly date: boolean; readonly month: boolean } {
  return { date: template.includes("{date}"), month: template.includes("{month}") };
}

export interface EmittedFile {
  readonly tenantName: string;
  readonly tenantId: string;
  readonly pipeline: string;
  /** Of what the file holds: its day, or the first of its month. */
  readonly firstDay: string;
  /** Some of it may still change. Default false. */
  readonly provisional?: boolean;
}

const PROVISIONAL = ".provisional";

/** What of an emitter its files are named by. */
interface NamingEmitter {
  readonly name?: string | undefined;
  readonly type: string;
  readonly params: { readonly filename_template: string };
}

export function fileNameOf(emitter: NamingEmitter, file: EmittedFile): string {
  const values: Readonly<Record<FilePlaceholder, string>> = {
    tenant_id: file.tenantId,
    tenant_name: file.tenantName,
    emitter: emitter.name ?? emitter.type,
    pipeline: file.pipeline,
    date: file.firstDay,
    month: file.firstDay.slice(0, 7),
  };
  const filled = (template: string) =>
    template.replaceAll(PLACEHOLDER, (_, name: FilePlaceholder) => safeName(values[name]));
  const { name, ext } = parse(emitter.params.filename_template);
  return `${filled(name)}${file.provisional ? PROVISIONAL : ""}${filled(ext)}`;
}

/** Percent-encoded where needed; a full stop in front as well, so that no value makes a hidden file or `..`. */
export function safeName(value: string): string {
  const encoded = [...Buffer.from(value)].map((byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9._-]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  });
  return encoded.join("").replace(/^\./, "%2E");
}
